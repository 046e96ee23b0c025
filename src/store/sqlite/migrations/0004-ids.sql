-- Random texts that name a commit, and the last one that touched a full page: see docs/reference/storage-format.md.
ALTER TABLE head ADD COLUMN commit_id TEXT NOT NULL DEFAULT '';
ALTER TABLE head ADD COLUMN full_pages_id TEXT NOT NULL DEFAULT '';
UPDATE head SET commit_id = lower(hex(randomblob(8)));
UPDATE head SET full_pages_id = commit_id;

-- The ids take the place of this counter.
ALTER TABLE head DROP COLUMN epoch;

-- Requests are remembered for the collection that they wrote to, 0 for a drop. What was remembered before is forgotten.
DROP TABLE request_log;

CREATE TABLE request_log (
  key           TEXT    NOT NULL,
  collection_id INTEGER NOT NULL,
  digest        TEXT    NOT NULL,
  outcome       TEXT    NOT NULL,
  at            INTEGER NOT NULL,
  PRIMARY KEY (key, collection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_log_by_age ON request_log (at);
