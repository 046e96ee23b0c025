/** Connections to the SQLite file, with the pragmas that durability and speed rest on. */

import { DatabaseSync } from 'node:sqlite'

/** How long a connection waits for another one's lock before it gives up. */
export const BUSY_TIMEOUT_MS = 10_000

/** Page cache of the writing connection: keys arrive in any order and touch many pages. */
const WRITER_CACHE_KIB = 16 * 1024

/** A connection that only reads. Each SELECT, or each BEGIN … COMMIT, sees one snapshot. */
export function openReadConnection(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
}

/** A connection that writes durably: a commit returns when it has reached the disk. */
export function openWriteConnection(path: string, timeout: number = BUSY_TIMEOUT_MS): DatabaseSync {
  const database = new DatabaseSync(path, { timeout })
  database.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${WRITER_CACHE_KIB}`)
  return database
}
