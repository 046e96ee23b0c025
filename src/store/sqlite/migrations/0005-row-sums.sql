-- Each row that an answer is made of gets a checksum. row_sum is defined by whoever runs this.

-- Before the data: what stands behind a large blob costs another read.
ALTER TABLE ream RENAME TO old_ream;
CREATE TABLE ream (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  count         INTEGER NOT NULL,
  raw_length    INTEGER NOT NULL,
  crc           INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  gone          BLOB,
  data          BLOB    NOT NULL,
  PRIMARY KEY (collection_id, generation, number)
) STRICT;
INSERT INTO ream
SELECT collection_id, generation, number, count, raw_length, crc,
  row_sum('ream', collection_id, generation, number, count, raw_length, crc, gone, data), gone, data
FROM old_ream;
DROP TABLE old_ream;

ALTER TABLE tail ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE tail SET sum = row_sum('tail', collection_id, generation, position, item);

ALTER TABLE key ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE key SET sum = row_sum('key', collection_id, generation, key, position);

ALTER TABLE hole ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE hole SET sum = row_sum('hole', collection_id, generation, level, block, gone);

-- One row a collection, found by its name.
ALTER TABLE head RENAME TO old_head;
CREATE TABLE head (
  name          TEXT    PRIMARY KEY,
  id            INTEGER NOT NULL,
  key_field     TEXT,
  paginated     INTEGER NOT NULL CHECK (paginated IN (0, 1)),
  private       INTEGER NOT NULL CHECK (private IN (0, 1)),
  generation    INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  commit_id     TEXT    NOT NULL,
  full_pages_id TEXT    NOT NULL,
  next          INTEGER NOT NULL,
  live          INTEGER NOT NULL,
  changed_at    INTEGER,
  sum           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO head
SELECT *, row_sum('head', name, id, key_field, paginated, private, generation, version, commit_id, full_pages_id, next, live, changed_at)
FROM (
  SELECT name, id, key_field, paginated, private, generation, version, commit_id, full_pages_id, next, live, changed_at
  FROM collection JOIN old_head ON collection_id = id);
DROP TABLE old_head;
DROP TABLE collection;

ALTER TABLE request_log ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE request_log SET sum = row_sum('request_log', key, collection_id, digest, outcome, at);

-- By hash: the row that a request asks for is found without an index beside the table.
ALTER TABLE token RENAME TO old_token;
CREATE TABLE token (
  hash       TEXT    PRIMARY KEY,
  name       TEXT    NOT NULL,
  scopes     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  sum        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO token
SELECT hash, name, scopes, created_at, expires_at, revoked_at,
  row_sum('token', hash, name, scopes, created_at, expires_at, revoked_at)
FROM old_token;
DROP TABLE old_token;

-- How many rows a table must have, so that one cannot get lost unnoticed.
CREATE TABLE row_count (
  name  TEXT    PRIMARY KEY,
  count INTEGER NOT NULL,
  sum   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO row_count SELECT 'head', count(*), row_sum('row_count', 'head', count(*)) FROM head;
INSERT INTO row_count SELECT 'token', count(*), row_sum('row_count', 'token', count(*)) FROM token;
