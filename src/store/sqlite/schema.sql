-- The storage model: docs/reference/storage-format.md describes every column.
-- Each row that an answer is made of has a checksum. row_sum is defined by whoever runs this.

-- One row a collection, found by its name.
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
  changes       INTEGER NOT NULL,
  history_from  INTEGER NOT NULL,
  retention_ms  INTEGER NOT NULL,
  retention_bytes INTEGER NOT NULL,
  -- Of a mirror: the URL of what it mirrors, and how far it has come, as JSON.
  origin        TEXT,
  changed_at    INTEGER,
  sum           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- With a rowid: large blobs read three times as fast as from a table without one. The checksum stands before the data:
-- what stands behind a large blob costs another read.
CREATE TABLE ream (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  count         INTEGER NOT NULL,
  raw_length    INTEGER NOT NULL,
  crc           INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  gone          BLOB,
  quires        BLOB    NOT NULL,
  data          BLOB    NOT NULL,
  PRIMARY KEY (collection_id, generation, number)
) STRICT;

CREATE TABLE tail (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  item          TEXT    NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE key (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  key           TEXT    NOT NULL,
  position      INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE hole (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  level         INTEGER NOT NULL,
  block         INTEGER NOT NULL,
  gone          INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation, level, block)
) STRICT, WITHOUT ROWID;

-- The history of a collection. Its changes are numbered through, and a number is the time by which the rest is found.
-- States that readers saw, one a commit, with the number of changes before each.
CREATE TABLE state (
  collection_id INTEGER NOT NULL,
  changes       INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  commit_id     TEXT    NOT NULL,
  generation    INTEGER NOT NULL,
  next          INTEGER NOT NULL,
  live          INTEGER NOT NULL,
  bytes         INTEGER NOT NULL,
  at            INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, changes, version)
) STRICT, WITHOUT ROWID;

-- One row a change, items that were appended in a row together; and the text that a replaced or deleted item had.
CREATE TABLE change (
  collection_id INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  kind          INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  count         INTEGER NOT NULL,
  before        TEXT,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, number)
) STRICT, WITHOUT ROWID;

-- Which changes an item met.
CREATE TABLE past (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation, position, number)
) STRICT, WITHOUT ROWID;

-- Hole counts as they were before a change.
CREATE TABLE past_hole (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  level         INTEGER NOT NULL,
  block         INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  gone          INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation, level, block, number)
) STRICT, WITHOUT ROWID;

-- Generations that were replaced as a whole, as far as each got.
CREATE TABLE replaced (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  next          INTEGER NOT NULL,
  live          INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation)
) STRICT, WITHOUT ROWID;

-- Who is loading into a collection. It is by name, because the collection may not exist before the load ends.
CREATE TABLE lease (
  name          TEXT    PRIMARY KEY,
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  base          INTEGER NOT NULL,
  holder        TEXT    NOT NULL,
  host          TEXT    NOT NULL,
  pid           INTEGER NOT NULL,
  started_at    INTEGER NOT NULL,
  renewed_at    INTEGER NOT NULL,
  -- Where the process runs, and when it was renewed by the clock that all processes since a boot share.
  boot          TEXT    NOT NULL DEFAULT '',
  namespace     TEXT    NOT NULL DEFAULT '',
  renewed_tick  INTEGER NOT NULL DEFAULT 0,
  -- How many steps of the load are committed: a store that was put back to an older state has fewer.
  steps         INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What nobody can see any more and is yet to be removed: everything of a generation from a position on, and with generation -1
-- of the history from a number on.
CREATE TABLE leftover (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  base          INTEGER NOT NULL,
  key_cursor    TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (collection_id, generation)
) STRICT, WITHOUT ROWID;

-- Requests that may be sent again, and what was answered to each the first time. They are remembered for the collection
-- that they wrote to, 0 for a drop.
CREATE TABLE request_log (
  key           TEXT    NOT NULL,
  collection_id INTEGER NOT NULL,
  digest        TEXT    NOT NULL,
  outcome       TEXT    NOT NULL,
  at            INTEGER NOT NULL,
  sum           INTEGER NOT NULL,
  PRIMARY KEY (key, collection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_log_by_age ON request_log (at);

-- Who may do what. Of a token itself only the SHA-256 is here, by which the row is found without an index.
CREATE TABLE token (
  hash       TEXT    PRIMARY KEY,
  name       TEXT    NOT NULL,
  scopes     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  sum        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which collections are kept true to a table or a collection elsewhere, and how far, as whoever does it said last.
CREATE TABLE following (
  name    TEXT    PRIMARY KEY,
  source  TEXT    NOT NULL,
  waiting INTEGER NOT NULL,
  as_of   INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  holder  TEXT    NOT NULL,
  sum     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many rows a table must have, so that one cannot get lost unnoticed.
CREATE TABLE row_count (
  name  TEXT    PRIMARY KEY,
  count INTEGER NOT NULL,
  sum   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO row_count VALUES ('head', 0, row_sum('row_count', 'head', 0)), ('token', 0, row_sum('row_count', 'token', 0));
