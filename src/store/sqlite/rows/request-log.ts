/** Remembers what was answered to requests that may be sent again (idempotency), in the transaction of the write itself. */

import { NO_COLLECTION } from '../../collection-rules.ts'
import type { Once } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import { checkAbsence, checkSum, SummedTable, withSum } from './row-sum.ts'
import type { Rows } from './rows.ts'

const REQUEST = new SummedTable(
  'request_log',
  'key collection_id',
  'digest outcome at',
  ([key]) => `The request that is remembered as ${JSON.stringify(key)}`,
)

const FIND = `SELECT ${REQUEST.select(2)} FROM request_log WHERE key = ? AND collection_id = ?`
const ALL = `SELECT ${REQUEST.select(0)} FROM request_log`
const REMEMBER = REQUEST.put()
/**
 * Two for each that is added: so what no longer counts grows less, and no write pays for many others. The row is asked for
 * its time too: the index that finds it has no checksum.
 */
const FORGET = `
  DELETE FROM request_log WHERE at <= ?1 AND (key, collection_id) IN (
    SELECT key, collection_id FROM request_log WHERE at <= ?1 ORDER BY at LIMIT 2)`

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
  const known = findRequest(rows, key, collectionId())
  if (known !== undefined && known.at > oldest) {
    if (known.digest !== digest)
      throw new StoreError('request-differs', 'This key was already used for a different request.')
    return JSON.parse(known.outcome)
  }
  const outcome = write() ?? null
  const start = REQUEST.start(key, collectionId() ?? NO_COLLECTION)
  rows.run(REMEMBER, ...withSum(start, digest, JSON.stringify(outcome), now))
  rows.run(FORGET, oldest)
  return outcome
}

interface RememberedRequest {
  readonly digest: string
  readonly outcome: string
  readonly at: number
}

function findRequest(rows: Rows, key: string, collectionId: number | undefined): RememberedRequest | undefined {
  if (collectionId === undefined) return undefined
  const row = rows.get(FIND, key, collectionId)
  if (row === undefined) {
    // Else a write that is sent again would be done twice.
    checkAbsence(rows, REQUEST, undefined, [key, collectionId])
    return undefined
  }
  checkSum(rows, REQUEST.start(key, collectionId), undefined, row)
  return { digest: row[0] as string, outcome: row[1] as string, at: row[2] as number }
}

/** All that is remembered, of which any damage is reported. */
export function checkRequests(rows: Rows): void {
  for (const row of rows.each(ALL)) checkSum(rows, REQUEST.start(), undefined, row)
}
