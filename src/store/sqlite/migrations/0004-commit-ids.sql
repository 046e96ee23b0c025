-- Random texts that name a commit, and the last one that touched a full page: see docs/reference/storage-format.md.
ALTER TABLE head ADD COLUMN commit_id TEXT NOT NULL DEFAULT '';
ALTER TABLE head ADD COLUMN full_pages_id TEXT NOT NULL DEFAULT '';
UPDATE head SET commit_id = lower(hex(randomblob(8)));
UPDATE head SET full_pages_id = commit_id;

-- The ids take the place of this counter.
ALTER TABLE head DROP COLUMN epoch;
