/** The URL of a database in PostgreSQL, as the driver takes it: with what psql would read from its variables and files. */

import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { PoolConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import readPassword from 'pgpass'
import { StoreError } from '../../store-error.ts'
import { isReadable, readDatabaseLabel } from './database-label.ts'

export interface PostgresUrl {
  /** What messages call it: never with the password. */
  readonly label: string
  readonly connection: PoolConfig
}

/** `what` it is the URL of: `the store`. The parameters that are in `own` are not for the driver, and are answered with. */
export function readPostgresUrl(
  url: string,
  what: string,
  own: readonly string[] = [],
): PostgresUrl & { readonly own: ReadonlyMap<string, string> } {
  const [address = '', query = ''] = url.split('?', 2)
  if (!/^postgres(ql)?:\/\//i.test(address))
    throw new StoreError('not-a-store', `The URL of ${what} in PostgreSQL begins with postgres:// or postgresql://.`)
  if (!isReadable(url)) throw unreadable(what, 'it cannot be parsed')
  const parameters = new URLSearchParams(query)
  const taken = new Map<string, string>()
  for (const name of own) {
    const value = parameters.get(name)
    if (value !== null) taken.set(name, value)
    parameters.delete(name)
  }
  addSslVariables(parameters)
  readSslMode(parameters, what)
  const connection = readConnection(`${address}?${parameters}`, what)
  return { label: readDatabaseLabel(url).label, connection, own: taken }
}

const SSL_MODES: readonly string[] = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

const CERTIFICATE_VARIABLES = { sslrootcert: 'PGSSLROOTCERT', sslcert: 'PGSSLCERT', sslkey: 'PGSSLKEY' }

/** The driver reads PGSSLMODE alone, and checks certificates where psql does not. */
function addSslVariables(parameters: URLSearchParams): void {
  const add = (name: string, value: string | undefined) => {
    if (value && !parameters.has(name)) parameters.set(name, value)
  }
  if (!parameters.has('ssl')) add('sslmode', process.env['PGSSLMODE'])
  // To the driver, a certificate alone would mean TLS.
  if ((parameters.get('sslmode') ?? 'disable') === 'disable') return
  for (const [name, variable] of Object.entries(CERTIFICATE_VARIABLES)) add(name, process.env[variable])
}

/** The driver would take any other word, and cannot go back to a connection without TLS. */
function readSslMode(parameters: URLSearchParams, what: string): void {
  const mode = parameters.get('sslmode')
  if (mode === null) return
  if (!SSL_MODES.includes(mode))
    throw new StoreError(
      'not-a-store',
      `Invalid sslmode=${mode} in the URL of ${what} or in PGSSLMODE: expected one of ${SSL_MODES.join(', ')}.`,
    )
  if (mode === 'verify-ca' && !parameters.has('sslrootcert'))
    throw new StoreError(
      'not-a-store',
      `With sslmode=verify-ca the URL of ${what} has to name the certificate of the CA with sslrootcert.`,
    )
  parameters.set('sslmode', mode === 'allow' || mode === 'prefer' ? 'require' : mode)
  // The words then mean what they mean to psql.
  if (!parameters.has('uselibpqcompat')) parameters.set('uselibpqcompat', 'true')
}

/** What the driver makes of it. Its error would quote the URL, and with it the password. */
function readConnection(url: string, what: string): PoolConfig {
  try {
    const { password, ...rest } = parseIntoClientConfig(url)
    const given: PoolConfig = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''))
    const named = {
      ...given,
      ...hostOf(given),
      user: given.user ?? process.env['PGUSER'] ?? process.env['USER'] ?? userInfo().username,
    }
    return { ...named, password: password || process.env['PGPASSWORD'] || passwordFromFile(named) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = code === 'ENOENT' ? 'a file that it names is not there' : 'it cannot be read'
    throw unreadable(what, reason)
  }
}

function unreadable(what: string, reason: string): StoreError {
  return new StoreError(
    'not-a-store',
    `Invalid URL of ${what}: ${reason}. Expected postgres://user@host:5432/database${what === 'the store' ? '?schema=reams' : ''}; encode special characters in a password, %40 for @, %2F for /, %23 for # and so on.`,
  )
}

/** Where psql looks for a server when nobody names one. */
const SOCKET_DIRECTORIES = ['/var/run/postgresql', '/tmp']

/** As psql does: without a host, the socket of this machine, where there is one. */
function hostOf({ host, port }: PoolConfig): { readonly host?: string } {
  if (host !== undefined || process.env['PGHOST']) return {}
  const socket = `.s.PGSQL.${port ?? process.env['PGPORT'] ?? 5432}`
  const directory = SOCKET_DIRECTORIES.find((each) => existsSync(join(each, socket)))
  return directory === undefined ? {} : { host: directory }
}

/** Asked only when a server wants a password. */
function passwordFromFile(connection: PoolConfig & { readonly user: string }): () => Promise<string> {
  const { user } = connection
  const target = {
    user,
    host: (connection.host ?? process.env['PGHOST'] ?? 'localhost').replace(/^\/.*/, 'localhost'),
    port: connection.port ?? Number(process.env['PGPORT'] ?? 5432),
    database: connection.database ?? process.env['PGDATABASE'] ?? user,
  }
  return () => new Promise((resolve) => readPassword(target, (password) => resolve(password ?? '')))
}
