-- Requests that may be sent again, and what was answered to each the first time.
CREATE TABLE request_log (
  key     TEXT    PRIMARY KEY,
  digest  TEXT    NOT NULL,
  outcome TEXT    NOT NULL,
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX request_log_by_age ON request_log (at);

-- Who may do what. Of a token itself only the SHA-256 is here.
CREATE TABLE token (
  name       TEXT    PRIMARY KEY,
  hash       TEXT    NOT NULL UNIQUE,
  scopes     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
