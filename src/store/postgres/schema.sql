-- The storage model: docs/reference/storage-format.md describes every column.
-- Every table but `token` has the shard key of its collection's name in front: on Citus all that one statement needs is then on
-- one shard.

CREATE TABLE head (
  shard_key         bigint  NOT NULL,
  name          text    NOT NULL COLLATE "C",
  id            bigint  NOT NULL,
  key_field     bytea,
  paginated     boolean NOT NULL,
  private       boolean NOT NULL,
  generation    bigint  NOT NULL,
  version       bigint  NOT NULL,
  -- Random texts that name a commit, and the last one that touched a full page.
  commit_id     text    NOT NULL,
  full_pages_id text    NOT NULL,
  next          bigint  NOT NULL,
  live          bigint  NOT NULL,
  changes       bigint  NOT NULL,
  history_from  bigint  NOT NULL,
  retention_ms  bigint  NOT NULL,
  retention_bytes bigint NOT NULL,
  -- Of a mirror: the URL of what it mirrors, and how far it has come, as JSON.
  origin        text,
  generation_id         bigint  NOT NULL,
  guarded       boolean NOT NULL DEFAULT false,
  -- Milliseconds since 1970.
  changed_at    bigint,
  PRIMARY KEY (shard_key, name)
) WITH (fillfactor = 10);

CREATE TABLE ream (
  shard_key      bigint  NOT NULL,
  generation_id      bigint  NOT NULL,
  number     bigint  NOT NULL,
  count      integer NOT NULL,
  raw_length bigint  NOT NULL,
  crc        bigint  NOT NULL,
  gone       bytea,
  quires     bytea   NOT NULL,
  data       bytea   NOT NULL,
  PRIMARY KEY (shard_key, generation_id, number)
);

-- They are compressed already.
ALTER TABLE ream ALTER COLUMN data SET STORAGE EXTERNAL;

-- Items and keys are bytes: they pass through no conversion, and are compared as they are.
CREATE TABLE tail (
  shard_key    bigint NOT NULL,
  generation_id    bigint NOT NULL,
  position bigint NOT NULL,
  item     bytea  NOT NULL,
  PRIMARY KEY (shard_key, generation_id, position)
);

CREATE TABLE key (
  shard_key    bigint NOT NULL,
  generation_id    bigint NOT NULL,
  key      bytea  NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (shard_key, generation_id, key)
);

CREATE TABLE hole (
  shard_key bigint   NOT NULL,
  generation_id bigint   NOT NULL,
  level smallint NOT NULL,
  block bigint   NOT NULL,
  gone  integer  NOT NULL,
  PRIMARY KEY (shard_key, generation_id, level, block)
);

-- The history of a collection. Its changes are numbered through, and a number is the time by which the rest is found.
-- States that readers saw, one a commit, with the number of changes before each.
CREATE TABLE state (
  shard_key     bigint NOT NULL,
  collection_id bigint NOT NULL,
  changes       bigint NOT NULL,
  version       bigint NOT NULL,
  commit_id     text   NOT NULL,
  generation    bigint NOT NULL,
  next          bigint NOT NULL,
  live          bigint NOT NULL,
  bytes         bigint NOT NULL,
  -- Milliseconds since 1970.
  at            bigint NOT NULL,
  PRIMARY KEY (shard_key, collection_id, changes, version)
);

-- One row a change, items that were appended in a row together; and the text that a replaced or deleted item had.
CREATE TABLE change (
  shard_key     bigint   NOT NULL,
  collection_id bigint   NOT NULL,
  number        bigint   NOT NULL,
  version       bigint   NOT NULL,
  generation    bigint   NOT NULL,
  kind          smallint NOT NULL,
  position      bigint   NOT NULL,
  count         bigint   NOT NULL,
  before        bytea,
  PRIMARY KEY (shard_key, collection_id, number)
);

-- Which changes an item met.
CREATE TABLE past (
  shard_key     bigint NOT NULL,
  collection_id bigint NOT NULL,
  generation    bigint NOT NULL,
  position      bigint NOT NULL,
  number        bigint NOT NULL,
  PRIMARY KEY (shard_key, collection_id, generation, position, number)
);

-- Hole counts as they were before a change.
CREATE TABLE past_hole (
  shard_key     bigint   NOT NULL,
  collection_id bigint   NOT NULL,
  generation    bigint   NOT NULL,
  level         smallint NOT NULL,
  block         bigint   NOT NULL,
  number        bigint   NOT NULL,
  gone          integer  NOT NULL,
  PRIMARY KEY (shard_key, collection_id, generation, level, block, number)
);

-- Generations that were replaced as a whole, as far as each got.
CREATE TABLE replaced (
  shard_key     bigint NOT NULL,
  collection_id bigint NOT NULL,
  generation    bigint NOT NULL,
  generation_id bigint NOT NULL,
  next          bigint NOT NULL,
  live          bigint NOT NULL,
  PRIMARY KEY (shard_key, collection_id, generation)
);

-- Who is loading into a collection. It is by name, because the collection may not exist before the load ends.
CREATE TABLE lease (
  shard_key      bigint      NOT NULL,
  name       text        NOT NULL COLLATE "C",
  generation_id      bigint      NOT NULL,
  staging    bigint      NOT NULL,
  base       bigint      NOT NULL,
  holder     text        NOT NULL,
  host       text        NOT NULL,
  pid        integer     NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  renewed_at timestamptz NOT NULL DEFAULT now(),
  -- How many steps of the load are committed. One that counts more than this finds that the database lost some in a crash.
  steps      bigint      NOT NULL DEFAULT 0,
  PRIMARY KEY (shard_key, name)
);

-- What nobody can see any more and is yet to be removed: everything of a generation from a position on, or of the history of
-- a collection, whose id then stands in the place of the generation's, from a number on.
CREATE TABLE leftover (
  shard_key      bigint NOT NULL,
  generation_id      bigint NOT NULL,
  base       bigint NOT NULL,
  history    boolean NOT NULL DEFAULT false,
  key_cursor bytea  NOT NULL DEFAULT '',
  PRIMARY KEY (shard_key, generation_id)
);

-- Requests that may be sent again, and what was answered to each the first time. They are remembered for the collection
-- that they wrote to, 0 for a drop.
CREATE TABLE request_log (
  shard_key         bigint      NOT NULL,
  key           text        NOT NULL COLLATE "C",
  collection_id bigint      NOT NULL,
  digest        text        NOT NULL,
  outcome       text        NOT NULL,
  at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (shard_key, key, collection_id)
);

-- Only statements that say the same can use it: the planner should find a request by its key.
CREATE INDEX request_log_oldest ON request_log (shard_key, at) WHERE at > '-infinity';

-- Which collections are kept true to a table or a collection elsewhere, and how far, as whoever does it said last.
CREATE TABLE following (
  shard_key bigint NOT NULL,
  name      text   NOT NULL COLLATE "C",
  source    text   NOT NULL,
  waiting   bigint NOT NULL,
  -- Milliseconds since 1970.
  as_of     bigint NOT NULL,
  seen_at   bigint NOT NULL,
  holder    text   NOT NULL,
  PRIMARY KEY (shard_key, name)
);

-- Who may do what. Of a token itself only the SHA-256 is here.
CREATE TABLE token (
  name       text   NOT NULL COLLATE "C" PRIMARY KEY,
  hash       text   NOT NULL UNIQUE,
  scopes     text   NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint
);
