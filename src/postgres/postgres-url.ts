/** The URL of a database in PostgreSQL, as the driver takes it: with what psql would read from its variables and files. */

import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { PoolConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import readPassword from 'pgpass'
import { isReadable, readDatabaseLabel } from './database-label.ts'
import { PostgresUrlError } from './postgres-error.ts'
import { readPostgresService } from './postgres-service.ts'

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
    throw new PostgresUrlError(`The URL of ${what} in PostgreSQL begins with postgres:// or postgresql://.`)
  if (SEVERAL_HOSTS.test(address)) throw severalHosts(what)
  if (!isReadable(url)) throw unreadable(what, 'it cannot be parsed')
  const parameters = new URLSearchParams(query)
  addService(parameters, address, what)
  refuseRepeated(parameters, what)
  const taken = new Map<string, string>()
  for (const name of own) {
    const value = parameters.get(name)
    if (value !== null) taken.set(name, value)
    parameters.delete(name)
  }
  addVariables(parameters, VARIABLES)
  refuseUnknown(parameters, own, what)
  if (parameters.get('port')?.includes(',')) throw severalHosts(what)
  addSslVariables(parameters)
  readSslMode(parameters, what)
  const connection = readConnection(`${address}?${parameters}`, what)
  return { label: readDatabaseLabel(url).label, connection, own: taken }
}

/** Each with a port or without. */
const SEVERAL_HOSTS = /^[a-z]+:\/\/(?:[^@/?#]*@)?[^@/?#]*,[^@/?#]*(?:\/[^@]*)?$/i

function severalHosts(what: string): PostgresUrlError {
  return new PostgresUrlError(
    `Several hosts are given for ${what}, and only one can be tried: name one of them, or an address that follows the primary.`,
  )
}

/** Used by us or by the driver. */
const UNDERSTOOD: readonly string[] = [
  ...['host', 'hostaddr', 'port', 'dbname', 'user', 'password', 'service', 'options', 'connect_timeout'],
  ...['application_name', 'fallback_application_name', 'client_encoding'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'ssl', 'sslnegotiation', 'uselibpqcompat'],
]

/** Parameters of psql without effect here, and the values with which they promise nothing. Undefined: any. */
const IGNORED: ReadonlyMap<string, readonly string[] | undefined> = new Map([
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_user_timeout'].map(
    (name) => [name, undefined] as const,
  ),
  ['gssencmode', ['disable', 'prefer']],
  ['channel_binding', ['disable', 'prefer']],
  ['target_session_attrs', ['any']],
])

/** Variables that say the same as a parameter. */
const VARIABLES = {
  gssencmode: 'PGGSSENCMODE',
  channel_binding: 'PGCHANNELBINDING',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
}

/** Users rely on a parameter that they write: on another schema, or on a server that takes writes. */
function refuseUnknown(parameters: URLSearchParams, own: readonly string[], what: string): void {
  for (const [name, value] of [...parameters]) {
    const harmless = IGNORED.get(name)
    if (!IGNORED.has(name) || (harmless !== undefined && !harmless.includes(value))) continue
    parameters.delete(name)
  }
  const unknown = [...parameters.keys()].find((name) => !UNDERSTOOD.includes(name))
  if (unknown === undefined) return
  const harmless = IGNORED.get(unknown)
  const where = `in the URL of ${what}, its service or the environment`
  if (harmless !== undefined) {
    const advice =
      unknown === 'target_session_attrs'
        ? ' Reams connects to the server that the URL names, whichever role it has: name one that follows the primary, such as a virtual address or a proxy.'
        : ''
    throw new PostgresUrlError(
      `Unsupported ${unknown} ${where}: leave it out, or set it to ${harmless.join(' or ')}.${advice}`,
    )
  }
  // Anything else may be a part of the password.
  const name = /^\w{1,63}$/.test(unknown) ? ` "${unknown}"` : ''
  const advice = `Leave it out, or correct it to one of ${[...own, ...UNDERSTOOD].join(', ')}.`
  throw new PostgresUrlError(`Unknown parameter${name} ${where}. ${advice}`)
}

function refuseRepeated(parameters: URLSearchParams, what: string): void {
  const names = [...parameters.keys()].filter((name) => UNDERSTOOD.includes(name) || name === 'schema')
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined)
    throw new PostgresUrlError(`The URL of ${what} has the parameter "${repeated}" twice: leave one out.`)
}

function addVariables(parameters: URLSearchParams, variables: Readonly<Record<string, string>>): void {
  for (const [name, variable] of Object.entries(variables)) {
    const value = process.env[variable]
    if (value && !parameters.has(name)) parameters.set(name, value)
  }
}

/** A whole number of seconds. Not for no limit, like psql's 0: there is always one. */
function readConnectTimeout(value: string | undefined, what: string): { readonly connectionTimeoutMillis?: number } {
  if (!value) return {}
  if (!/^-?\d{1,6}$/.test(value))
    throw new PostgresUrlError(
      `Invalid connect_timeout or PGCONNECT_TIMEOUT for ${what}: expected a number of seconds.`,
    )
  return Number(value) > 0 ? { connectionTimeoutMillis: Number(value) * 1_000 } : {}
}

/** What the URL leaves open. It stands above the variables, as with psql. */
function addService(parameters: URLSearchParams, address: string, what: string): void {
  const service = parameters.get('service') || process.env['PGSERVICE']
  if (!service) return
  const inAddress = new Map(Object.entries(parsed(address, what)).filter(([, value]) => value !== ''))
  for (const [name, value] of readPostgresService(service))
    if (!parameters.has(name) && !inAddress.has(name === 'dbname' ? 'database' : name)) parameters.set(name, value)
}

/** To the driver any other word would mean no TLS. */
const SSL_WORDS: readonly string[] = ['true', 'false']

const SSL_MODES: readonly string[] = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

const CERTIFICATE_VARIABLES = { sslrootcert: 'PGSSLROOTCERT', sslcert: 'PGSSLCERT', sslkey: 'PGSSLKEY' }

/** The driver reads PGSSLMODE alone, and checks certificates where psql does not. */
function addSslVariables(parameters: URLSearchParams): void {
  if (!parameters.has('ssl')) addVariables(parameters, { sslmode: 'PGSSLMODE' })
  // To the driver, a certificate alone would mean TLS.
  if ((parameters.get('sslmode') ?? 'disable') !== 'disable') addVariables(parameters, CERTIFICATE_VARIABLES)
}

/** The driver would take any other word, and cannot go back to a connection without TLS. */
function readSslMode(parameters: URLSearchParams, what: string): void {
  const ssl = parameters.get('ssl')
  if (ssl !== null && !SSL_WORDS.includes(ssl))
    throw new PostgresUrlError(
      `Invalid ssl=${ssl} in the URL of ${what}: expected ${SSL_WORDS.join(' or ')}. Better, use sslmode.`,
    )
  const mode = parameters.get('sslmode')
  if (mode === null) return
  if (!SSL_MODES.includes(mode))
    throw new PostgresUrlError(
      `Invalid sslmode=${mode} in the URL of ${what}, its service or PGSSLMODE: expected one of ${SSL_MODES.join(', ')}.`,
    )
  if (mode === 'verify-ca' && !parameters.has('sslrootcert'))
    throw new PostgresUrlError(
      `With sslmode=verify-ca the URL of ${what} has to name the certificate of the CA with sslrootcert.`,
    )
  parameters.set('sslmode', mode === 'allow' || mode === 'prefer' ? 'require' : mode)
  // The words then mean what they mean to psql.
  if (!parameters.has('uselibpqcompat')) parameters.set('uselibpqcompat', 'true')
}

/** What of it the driver does not know. */
interface Given extends PoolConfig {
  readonly dbname?: string
  readonly hostaddr?: string
  readonly connect_timeout?: string
}

function readConnection(url: string, what: string): PoolConfig {
  const { password, dbname, connect_timeout, hostaddr = process.env['PGHOSTADDR'], ...given } = parsed(url, what)
  const host = given.host ?? process.env['PGHOST']
  if ([host, hostaddr, given.port ?? process.env['PGPORT']].some((each) => `${each}`.includes(',')))
    throw severalHosts(what)
  const named = {
    ...given,
    ...readConnectTimeout(connect_timeout || process.env['PGCONNECT_TIMEOUT'], what),
    ...(hostaddr ? atAddress(hostaddr, given, host, what) : hostOf(given)),
    ...(given.database === undefined && dbname !== undefined && { database: dbname }),
    user: given.user ?? process.env['PGUSER'] ?? process.env['USER'] ?? userInfo().username,
  }
  const fromFile = passwordFromFile({ ...named, host: host ?? named.host })
  return { ...named, password: password || process.env['PGPASSWORD'] || fromFile }
}

/** In place of a host, whose name is still that in the certificate of the server. */
function atAddress(address: string, { ssl }: PoolConfig, host: string | undefined, what: string): PoolConfig {
  if (isIP(address) === 0)
    throw new PostgresUrlError(`Invalid hostaddr or PGHOSTADDR for ${what}: expected an address like 192.0.2.7.`)
  const hasName = host !== undefined && !host.startsWith('/') && isIP(host) === 0
  return { host: address, ...(ssl && hasName && { ssl: { ...(ssl === true ? {} : ssl), servername: host } }) }
}

/** What the driver makes of it. Its error would quote the URL, and with it the password. */
function parsed(url: string, what: string): Given {
  try {
    return Object.fromEntries(Object.entries(parseIntoClientConfig(url)).filter(([, value]) => value !== ''))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = code === 'ENOENT' ? 'a file that it names is not there' : 'it cannot be read'
    throw unreadable(what, reason)
  }
}

function unreadable(what: string, reason: string): PostgresUrlError {
  return new PostgresUrlError(
    `Invalid URL of ${what}: ${reason}. Expected postgres://user@host:5432/database${what === 'the store' ? '?schema=reams' : ''}; encode special characters in a password or a parameter, %40 for @, %2F for /, %3F for ?, %23 for # and so on.`,
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
function passwordFromFile(
  connection: Pick<PoolConfig, 'port' | 'database'> & { readonly user: string; readonly host: string | undefined },
): () => Promise<string> {
  const { user } = connection
  const target = {
    user,
    host: (connection.host ?? process.env['PGHOST'] ?? 'localhost').replace(/^\/.*/, 'localhost'),
    port: connection.port ?? Number(process.env['PGPORT'] ?? 5432),
    database: connection.database ?? process.env['PGDATABASE'] ?? user,
  }
  return () => new Promise((resolve) => readPassword(target, (password) => resolve(password ?? '')))
}
