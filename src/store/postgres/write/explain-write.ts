/** Errors of writes: a role that may change nothing at all is no mistake, but a store that is served read-only. */

import { stateOf } from '../../../postgres/postgres-error.ts'
import { StoreError } from '../../store-error.ts'
import type { Rows } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'
import { explainError, MISSING_GRANT } from '../server/explain-error.ts'
import type { StoreUrl } from '../server/store-url.ts'

/** Like `explainError`, for a write. */
export async function explainWrite(error: unknown, url: StoreUrl, connections: Connections): Promise<unknown> {
  const explained = explainError(error, url)
  if (stateOf(error) !== MISSING_GRANT || !(explained instanceof StoreError)) return explained
  const isReader = await connections.lend((rows) => mayOnlyRead(rows, url)).catch(() => false)
  return isReader ? new StoreError('writes-denied', explained.message, { cause: error }) : explained
}

/** Waits for a write, and explains why it failed. */
export async function explainedWrite<T>(work: Promise<T>, url: StoreUrl, connections: Connections): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw await explainWrite(error, url, connections)
  }
}

async function mayOnlyRead(rows: Rows, { schema }: StoreUrl): Promise<boolean> {
  const [row] = await rows.query(`
    SELECT has_schema_privilege('${schema}', 'USAGE') AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_class WHERE relnamespace = '"${schema}"'::regnamespace AND relkind IN ('r', 'p')
        AND has_table_privilege(oid, 'INSERT, UPDATE, DELETE'))`)
  return row?.[0] === true
}
