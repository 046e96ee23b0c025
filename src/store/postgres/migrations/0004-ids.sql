-- Random texts that name a commit, and the last one that touched a full page: see docs/reference/storage-format.md.
-- What is there already gets one text for all: Citus takes a constant alone.
ALTER TABLE head ADD COLUMN commit_id text NOT NULL DEFAULT '@random';
ALTER TABLE head ADD COLUMN full_pages_id text NOT NULL DEFAULT '@random';
ALTER TABLE head ALTER COLUMN commit_id DROP DEFAULT;
ALTER TABLE head ALTER COLUMN full_pages_id DROP DEFAULT;

-- The ids take the place of this counter.
ALTER TABLE head DROP COLUMN epoch;

-- Requests are remembered for the collection that they wrote to, 0 for a drop. What was remembered before is not found
-- any more, but for drops.
ALTER TABLE request_log ADD COLUMN collection_id bigint NOT NULL DEFAULT 0;
ALTER TABLE request_log ALTER COLUMN collection_id DROP DEFAULT;
ALTER TABLE request_log DROP CONSTRAINT request_log_pkey;
ALTER TABLE request_log ADD CONSTRAINT request_log_pkey PRIMARY KEY (place, key, collection_id);
