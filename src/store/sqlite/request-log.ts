/** Remembers what was answered to requests that may be sent again (idempotency), in the transaction of the write itself. */

import { NO_COLLECTION } from '../collection-rules.ts'
import type { Once } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Rows } from './rows.ts'

const FIND = 'SELECT digest, outcome FROM request_log WHERE key = ? AND collection_id = ? AND at > ?'
const REMEMBER = 'INSERT OR REPLACE INTO request_log (key, collection_id, digest, outcome, at) VALUES (?, ?, ?, ?, ?)'
/** Two for each that is added: so what no longer counts grows less, and no write pays for many others. */
const FORGET = `
  DELETE FROM request_log WHERE (key, collection_id) IN (
    SELECT key, collection_id FROM request_log WHERE at <= ? ORDER BY at LIMIT 2)`

export const KEPT_MS = 24 * 60 * 60 * 1000

/**
 * Writes, unless that was done before to the collection that is there: then the first outcome is answered. The write may
 * make the collection, so its id is asked for before and after.
 */
export function doOnce(
  rows: Rows,
  { key, digest }: Once,
  collectionId: () => number | undefined,
  write: () => unknown,
): unknown {
  const now = Date.now()
  const oldest = now - KEPT_MS
  const known = rows.get(FIND, key, collectionId() ?? null, oldest)
  if (known !== undefined) {
    if (known[0] !== digest)
      throw new StoreError('request-differs', 'A request with this key was answered before, and it was another one.')
    return JSON.parse(String(known[1]))
  }
  const outcome = write() ?? null
  rows.run(REMEMBER, key, collectionId() ?? NO_COLLECTION, digest, JSON.stringify(outcome), now)
  rows.run(FORGET, oldest)
  return outcome
}
