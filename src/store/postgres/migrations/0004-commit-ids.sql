-- Random texts that name a commit, and the last one that touched a full page: see docs/reference/storage-format.md.
-- What is there already gets one text for all: as a constant, because Citus takes no random defaults.
DO $$ BEGIN
  EXECUTE format('ALTER TABLE head ADD COLUMN commit_id text NOT NULL DEFAULT %L', gen_random_uuid());
  EXECUTE format('ALTER TABLE head ADD COLUMN full_pages_id text NOT NULL DEFAULT %L', gen_random_uuid());
END $$;
ALTER TABLE head ALTER COLUMN commit_id DROP DEFAULT;
ALTER TABLE head ALTER COLUMN full_pages_id DROP DEFAULT;

-- The ids take the place of this counter.
ALTER TABLE head DROP COLUMN epoch;
