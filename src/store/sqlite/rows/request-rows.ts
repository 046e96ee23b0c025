/** Remembered requests in SQLite. */

import { REQUEST_LIFETIME_MS } from '../../request-log.ts'
import type { RememberedRequest, RequestPlace } from '../../rows.ts'
import { checkAbsence, checkSum, SummedTable, withSum } from './row-sum.ts'
import type { Statements } from './statements.ts'

const REQUEST = new SummedTable(
  'request_log',
  'key collection_id',
  'digest outcome at',
  ([key]) => `The request that is remembered as ${JSON.stringify(key)}`,
)

const FIND = `SELECT ${REQUEST.select(2)} FROM request_log WHERE key = ? AND collection_id = ?`
const ALL = `SELECT ${REQUEST.select(0)} FROM request_log`
const PUT = REQUEST.put()
/**
 * Two for each that is added: so what no longer counts grows less, and no write pays for many others. The row is asked for
 * its time too: the index that finds it has no checksum.
 */
const FORGET = `
  DELETE FROM request_log WHERE at <= ?1 AND (key, collection_id) IN (
    SELECT key, collection_id FROM request_log WHERE at <= ?1 ORDER BY at LIMIT 2)`

export function findRequests(rows: Statements, places: readonly RequestPlace[]): RememberedRequest[] {
  const oldest = Date.now() - REQUEST_LIFETIME_MS
  return places.flatMap(({ key, collectionId }) => {
    const row = rows.get(FIND, key, collectionId)
    if (row === undefined) {
      // Else a write that is sent again would be done twice.
      checkAbsence(rows, REQUEST, undefined, [key, collectionId])
      return []
    }
    checkSum(rows, REQUEST.start(key, collectionId), undefined, row)
    const [digest, outcome, at] = row as [string, string, number]
    return at > oldest ? [{ key, collectionId, digest, outcome: JSON.parse(outcome) as unknown }] : []
  })
}

export function putRequests(rows: Statements, requests: readonly RememberedRequest[]): void {
  const now = Date.now()
  for (const { key, collectionId, digest, outcome } of requests) {
    rows.run(PUT, ...withSum(REQUEST.start(key, collectionId), digest, JSON.stringify(outcome), now))
    rows.run(FORGET, now - REQUEST_LIFETIME_MS)
  }
}

/** All that is remembered, of which any damage is reported. */
export function checkRequests(rows: Statements): void {
  for (const row of rows.each(ALL)) checkSum(rows, REQUEST.start(), undefined, row)
}
