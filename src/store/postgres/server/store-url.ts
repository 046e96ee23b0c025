/** The URL of a store in PostgreSQL: what stands in it for us, and what for the driver. */

import { userInfo } from 'node:os'
import type { PoolConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import readPassword from 'pgpass'
import { StoreError } from '../../store-error.ts'
import { isReadable, readStoreLabel } from './store-label.ts'

/** When statements are prepared: 'auto' on connections that lead straight to a server. */
export type Preparing = 'auto' | 'always' | 'never'

export interface StoreUrl {
  /** How the store is called in messages: never with the password. */
  readonly label: string
  readonly schema: string
  readonly preparing: Preparing
  readonly connection: PoolConfig
}

const DEFAULT_SCHEMA = 'reams'

export function readStoreUrl(url: string): StoreUrl {
  const [address = '', query = ''] = url.split('?', 2)
  if (!/^postgres(ql)?:\/\//i.test(address))
    throw new StoreError('not-a-store', 'The URL of a store in PostgreSQL begins with postgres:// or postgresql://.')
  if (!isReadable(url)) throw unreadable('it cannot be parsed')
  const parameters = new URLSearchParams(query)
  const schema = takeParameter(parameters, 'schema') ?? DEFAULT_SCHEMA
  const preparing = readPreparing(takeParameter(parameters, 'prepare'))
  readSslMode(parameters)
  const connection = readConnection(`${address}?${parameters}`)
  checkSchemaName(schema)
  return { label: readStoreLabel(url).label, schema, preparing, connection }
}

function takeParameter(parameters: URLSearchParams, name: string): string | undefined {
  const value = parameters.get(name) ?? undefined
  parameters.delete(name)
  return value
}

function readPreparing(value: string | undefined): Preparing {
  if (value === undefined || value === 'auto') return 'auto'
  if (value === 'always' || value === 'never') return value
  throw new StoreError(
    'not-a-store',
    `Invalid prepare=${value} in the URL of the store: expected auto, always or never.`,
  )
}

const SSL_MODES: readonly string[] = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** The driver would take any other word, and cannot go back to a connection without TLS. */
function readSslMode(parameters: URLSearchParams): void {
  const mode = parameters.get('sslmode')
  if (mode === null) return
  if (!SSL_MODES.includes(mode))
    throw new StoreError(
      'not-a-store',
      `Invalid sslmode=${mode} in the URL of the store: expected one of ${SSL_MODES.join(', ')}.`,
    )
  if (mode === 'verify-ca' && !parameters.has('sslrootcert'))
    throw new StoreError(
      'not-a-store',
      'With sslmode=verify-ca the URL of the store has to name the certificate of the CA with sslrootcert.',
    )
  parameters.set('sslmode', mode === 'allow' || mode === 'prefer' ? 'require' : mode)
  // The words then mean what they mean to psql.
  if (!parameters.has('uselibpqcompat')) parameters.set('uselibpqcompat', 'true')
}

/** What the driver makes of it. Its error would quote the URL, and with it the password. */
function readConnection(url: string): PoolConfig {
  try {
    const { password, ...rest } = parseIntoClientConfig(url)
    const given: PoolConfig = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''))
    const named = { ...given, user: given.user ?? process.env['PGUSER'] ?? process.env['USER'] ?? userInfo().username }
    return { ...named, password: password || process.env['PGPASSWORD'] || passwordFromFile(named) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = code === 'ENOENT' ? 'a file that it names is not there' : 'it cannot be read'
    throw unreadable(reason)
  }
}

function unreadable(reason: string): StoreError {
  return new StoreError(
    'not-a-store',
    `Invalid URL of the store: ${reason}. Expected postgres://user@host:5432/database?schema=reams; encode special characters in a password, %40 for @, %2F for /, %23 for # and so on.`,
  )
}

function checkSchemaName(schema: string): void {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema) && !schema.startsWith('pg_')) return
  throw new StoreError(
    'not-a-store',
    `Invalid schema "${schema}": expected 1 to 63 characters of a-z 0-9 _, not starting with a digit or with pg_.`,
  )
}

/** Asked only when a server wants a password. */
function passwordFromFile(connection: PoolConfig & { readonly user: string }): () => Promise<string> {
  const { user } = connection
  const target = {
    user,
    host: connection.host ?? process.env['PGHOST'] ?? 'localhost',
    port: connection.port ?? Number(process.env['PGPORT'] ?? 5432),
    database: connection.database ?? process.env['PGDATABASE'] ?? user,
  }
  return () => new Promise((resolve) => readPassword(target, (password) => resolve(password ?? '')))
}
