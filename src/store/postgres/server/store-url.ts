/** The URL of a store in PostgreSQL: what stands in it for us, and what for the driver. */

import { PostgresUrlError } from '../../../postgres/postgres-error.ts'
import { type PostgresUrl, readPostgresUrl } from '../../../postgres/postgres-url.ts'
import { StoreError } from '../../store-error.ts'

/** When statements are prepared: 'auto' on connections that lead straight to a server. */
export type Preparing = 'auto' | 'always' | 'never'

export interface StoreUrl extends PostgresUrl {
  readonly schema: string
  readonly preparing: Preparing
}

const DEFAULT_SCHEMA = 'reams'

export function readStoreUrl(url: string): StoreUrl {
  const { label, connection, own } = readUrl(url)
  const schema = own.get('schema') ?? DEFAULT_SCHEMA
  const preparing = readPreparing(own.get('prepare'))
  checkSchemaName(schema)
  return { label, connection, schema, preparing }
}

function readUrl(url: string) {
  try {
    return readPostgresUrl(url, 'the store', ['schema', 'prepare'])
  } catch (error) {
    throw error instanceof PostgresUrlError ? new StoreError('not-a-store', error.message, { cause: error }) : error
  }
}

function readPreparing(value: string | undefined): Preparing {
  if (value === undefined || value === 'auto') return 'auto'
  if (value === 'always' || value === 'never') return value
  throw new StoreError(
    'not-a-store',
    `Invalid prepare=${value} in the URL of the store: expected auto, always or never.`,
  )
}

function checkSchemaName(schema: string): void {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema) && !schema.startsWith('pg_')) return
  throw new StoreError(
    'not-a-store',
    `Invalid schema "${schema}": expected 1 to 63 characters of a-z 0-9 _, not starting with a digit or with pg_.`,
  )
}
