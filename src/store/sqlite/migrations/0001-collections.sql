-- The storage model: docs/reference/storage-format.md describes every column.

CREATE TABLE collection (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  key_field  TEXT,
  paginated  INTEGER NOT NULL CHECK (paginated IN (0, 1)),
  private    INTEGER NOT NULL CHECK (private IN (0, 1))
) STRICT;

CREATE TABLE head (
  collection_id INTEGER PRIMARY KEY,
  generation    INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  epoch         INTEGER NOT NULL,
  next          INTEGER NOT NULL,
  live          INTEGER NOT NULL
) STRICT;

-- With a rowid: large blobs read three times as fast as from a table without one.
CREATE TABLE ream (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  count         INTEGER NOT NULL,
  raw_length    INTEGER NOT NULL,
  crc           INTEGER NOT NULL,
  gone          BLOB,
  data          BLOB    NOT NULL,
  PRIMARY KEY (collection_id, generation, number)
) STRICT;

CREATE TABLE tail (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  item          TEXT    NOT NULL,
  PRIMARY KEY (collection_id, generation, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE key (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  key           TEXT    NOT NULL,
  position      INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE hole (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  level         INTEGER NOT NULL,
  block         INTEGER NOT NULL,
  gone          INTEGER NOT NULL,
  PRIMARY KEY (collection_id, generation, level, block)
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
  renewed_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What nobody can see any more and is yet to be removed: everything of a generation from a position on.
CREATE TABLE leftover (
  collection_id INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  base          INTEGER NOT NULL,
  key_cursor    TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (collection_id, generation)
) STRICT, WITHOUT ROWID;
