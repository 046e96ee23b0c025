/** How to reach a MySQL or MariaDB: what its URL says, and for the rest what the `mysql` client would read. */

import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { userInfo } from 'node:os'
import type { SslOptions } from 'mysql2'
import { readOptionFiles } from './mysql-option-files.ts'
import { TableError } from './table.ts'

export interface MysqlOptions {
  readonly user: string
  readonly password: string
  readonly database: string | undefined
  /** A socket of this machine, in place of host and port. */
  readonly socketPath: string | undefined
  readonly host: string
  readonly port: number
  /** Undefined: no TLS. */
  readonly ssl: SslOptions | undefined
  /** Whether to do without TLS where the server has none. */
  readonly isTlsOptional: boolean
}

type Options = ReadonlyMap<string, string>

export function readMysqlOptions(url: string): MysqlOptions {
  const options = new Map([...optionsInVariables(), ...readOptionFiles(), ...optionsInUrl(url)])
  const socketPath = socketIn(options)
  const sslMode = socketPath === undefined ? sslModeIn(options) : 'DISABLED'
  return {
    user: options.get('user') ?? process.env['USER'] ?? userInfo().username,
    password: options.get('password') ?? '',
    database: options.get('database'),
    socketPath,
    host: hostIn(options),
    port: portIn(options),
    ssl: sslMode === 'DISABLED' ? undefined : sslIn(options, sslMode),
    isTlsOptional: sslMode === 'PREFERRED',
  }
}

const VARIABLES = {
  host: 'MYSQL_HOST',
  port: 'MYSQL_TCP_PORT',
  socket: 'MYSQL_UNIX_PORT',
  password: 'MYSQL_PWD',
}

function optionsInVariables(): Options {
  return given(Object.entries(VARIABLES).map(([name, variable]) => [name, process.env[variable] ?? '']))
}

/** User, password, host, port, database, parameters. An @ or a # that is part of one has to be encoded. */
const URL_PARTS =
  /^[a-z]+:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(\[[^@/?#\]]*\]|[^:@/?#]*)(?::([0-9]*))?(?:\/([^@?#]*))?(?:\?([^@#]*))?$/i

const PARAMETERS: readonly string[] = ['socket', 'ssl-mode', 'ssl-ca', 'ssl-cert', 'ssl-key']

function optionsInUrl(url: string): Options {
  const parts = URL_PARTS.exec(url)
  if (parts === null) throw unreadable()
  const [user = '', password = '', host = '', port = '', database = ''] = parts.slice(1, 6).map(decoded)
  const parameters = parametersIn(parts[6] ?? '')
  const hasSocket = parameters.has('socket')
  return given([
    ['user', user],
    ['password', password],
    ['host', hasSocket ? LOCALHOST : host],
    ['port', port],
    ['protocol', hasSocket ? 'socket' : port && 'tcp'],
    ['database', database],
    ...parameters,
  ])
}

function parametersIn(query: string): Options {
  const parameters = new Map([...new URLSearchParams(query)].map(([name, value]) => [name.replaceAll('_', '-'), value]))
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown === undefined) return parameters
  const known = PARAMETERS.join(', ')
  throw new TableError('usage', `Unknown parameter "${unknown}" in the URL of the database: there are ${known}.`)
}

function given(options: readonly (readonly [string, string])[]): Options {
  return new Map(options.filter(([, value]) => value !== ''))
}

/** An error of the decoder would quote what may be the password. */
function decoded(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? '')
  } catch {
    throw unreadable()
  }
}

function unreadable(): TableError {
  return new TableError(
    'usage',
    'Invalid URL of the database: it cannot be parsed. Expected mysql://user@host:3306/database; encode special characters in a password, %40 for @, %2F for /, %23 for # and so on.',
  )
}

/** Where servers put their socket, unless told otherwise: Debian, Red Hat, all others. */
const SOCKETS = ['/run/mysqld/mysqld.sock', '/var/lib/mysql/mysql.sock', '/tmp/mysql.sock']

const LOCALHOST = 'localhost'

/** To the clients, `localhost` means a socket, unless a port is asked for. */
function socketIn(options: Options): string | undefined {
  if (hostIn(options) !== LOCALHOST || options.get('protocol')?.toLowerCase() === 'tcp') return undefined
  return options.get('socket') ?? SOCKETS.find((path) => existsSync(path))
}

function hostIn(options: Options): string {
  return (options.get('host') ?? LOCALHOST).replace(/^\[(.*)\]$/, '$1')
}

function portIn(options: Options): number {
  const text = options.get('port') ?? '3306'
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new TableError(
    'usage',
    `Invalid port "${text}" of MySQL: expected 1 to 65535. Check MYSQL_TCP_PORT and my.cnf.`,
  )
}

const SSL_MODES: readonly string[] = ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY']

function sslModeIn(options: Options): string {
  const text = options.get('ssl-mode')
  const mode = text?.toUpperCase().replace('-', '_') ?? impliedSslMode(options)
  if (!SSL_MODES.includes(mode))
    throw new TableError('usage', `Invalid ssl-mode=${text}: expected one of ${SSL_MODES.join(', ')}.`)
  if (mode === 'VERIFY_IDENTITY' && isIP(hostIn(options)))
    throw new TableError('usage', `With ssl-mode=VERIFY_IDENTITY, give the name of the host, not its address.`)
  return mode
}

/** MariaDB has other options for the same. */
function impliedSslMode(options: Options): string {
  const isOn = (name: string) => options.has(name) && !/^(0|off|false)$/i.test(options.get(name) ?? '')
  if (isOn('ssl-verify-server-cert')) return 'VERIFY_IDENTITY'
  if (options.has('ssl-ca')) return 'VERIFY_CA'
  if (isOn('skip-ssl') || (options.has('ssl') && !isOn('ssl'))) return 'DISABLED'
  return isOn('ssl') ? 'REQUIRED' : 'PREFERRED'
}

function sslIn(options: Options, mode: string): SslOptions {
  const files = (['ca', 'cert', 'key'] as const).flatMap((name) => {
    const path = options.get(`ssl-${name}`)
    return path === undefined ? [] : [[name, readPem(path, `ssl-${name}`)]]
  })
  return {
    rejectUnauthorized: mode.startsWith('VERIFY'),
    verifyIdentity: mode === 'VERIFY_IDENTITY',
    ...Object.fromEntries(files),
  }
}

function readPem(path: string, option: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new TableError('surroundings', `The file of ${option} cannot be read: ${reason}.`, { cause: error })
  }
}
