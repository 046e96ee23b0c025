/** What MySQL, MariaDB, their driver and the network report, as errors that say what to do. */

import { messageOf } from '../postgres/postgres-error.ts'
import {
  checkColumns,
  nameOf,
  type RowsChoice,
  semicolonAdvice,
  TableError,
  type TableErrorKind,
  thereAre,
} from './table.ts'

type Explanation = readonly [TableErrorKind, string]

const NOT_ALLOWED: Explanation = [
  'surroundings',
  'Check the name; an administrator can allow it: GRANT SELECT ON database.table TO ….',
]
const NO_ENTRY: Explanation = [
  'surroundings',
  'Check the user and the password, which is read from the URL, ~/.my.cnf or MYSQL_PWD.',
]
const FULL: Explanation = ['surroundings', 'The server is out of space or memory. Try again when it has some.']
const TAKEN: Explanation = [
  'surroundings',
  'All connections of the server or of this user are taken. Try again in a moment.',
]
const ENDED: Explanation = ['surroundings', 'Somebody ended it on the server, or the server is stopping. Try again.']
const LOST: Explanation = ['surroundings', 'The connection was lost. Try again.']
const BUSY: Explanation = ['surroundings', 'Others have held a lock for too long. Try again.']
const NOT_ONE_SELECT: Explanation = ['usage', 'Check the query; it has to be one SELECT.']

/** Numbers of errors, which both servers share. */
const DUPLICATE_COLUMN = 1060
const NO_COLUMN = 1054
const SYNTAX = 1064
const NO_DATABASE = 1049
const NO_TABLE = 1146

const EXPLANATIONS: Readonly<Record<number, Explanation>> = {
  1021: FULL,
  1037: FULL,
  1038: FULL,
  1040: TAKEN,
  1041: FULL,
  1044: NOT_ALLOWED,
  1045: NO_ENTRY,
  1046: ['usage', 'Name the database: at the end of the URL, or as in --table database.table.'],
  [NO_DATABASE]: ['usage', 'Check the name of the database, at the end of the URL.'],
  1053: ENDED,
  1114: FULL,
  1130: ['surroundings', 'The server does not let this machine in: an administrator can, with CREATE USER.'],
  1135: FULL,
  1142: NOT_ALLOWED,
  1143: NOT_ALLOWED,
  1203: TAKEN,
  1205: BUSY,
  1210: NOT_ONE_SELECT,
  1213: BUSY,
  1226: TAKEN,
  1227: NOT_ALLOWED,
  1317: ENDED,
  1370: NOT_ALLOWED,
  1412: ['surroundings', 'It was changed meanwhile. Try again.'],
  1698: NO_ENTRY,
  1792: ['usage', 'Only what changes nothing is run: give a query that reads.'],
  1927: ENDED,
  3169: ENDED,
  3954: NOT_ONE_SELECT,
  4031: LOST,
}

/** The name of a table that is not there, or of its database. */
export function isNoSuchTable(error: unknown): boolean {
  const number = numberOf(error)
  return number === NO_TABLE || number === NO_DATABASE
}

/** Answers what is to be thrown in its place. Errors of our own pass as they are. */
export function explainMysqlError(
  error: unknown,
  choice: RowsChoice,
  label: string,
  columns: readonly string[] = [],
): unknown {
  if (!(error instanceof Error) || isOurs(error)) return error
  const where = `${nameOf(choice)} in ${label}`
  const [, column] = numberOf(error) === DUPLICATE_COLUMN ? (/'(.*)'/s.exec(error.message) ?? []) : []
  if (column !== undefined) checkColumns([column, column], where)
  const [kind, advice] = explanationOf(error, choice, columns)
  const more = numberOf(error) === SYNTAX ? semicolonAdvice(choice) : ''
  return new TableError(kind, `${where}: ${reasonOf(error)}. ${advice}${more}`.trim(), { cause: error })
}

/** Without the brackets around a query, and without what the driver has to say about itself. */
function reasonOf(error: Error): string {
  const message = messageOf(error)
  const [, near] = numberOf(error) === SYNTAX ? (/'(.*)'/s.exec(message) ?? []) : []
  const own = near?.replace(/\s*(\) AS q.*|LIMIT 0)$/s, '')
  if (own !== undefined) return own === '' ? 'syntax error at the end' : `syntax error near '${own}'`
  return message
    .replace(/^Connection lost: The/, 'the')
    .replace(/ See TODO.*/s, '')
    .replace(/\.$/, '')
}

/** A mistake in this program, or one that says already what to do. */
function isOurs(error: Error): boolean {
  return error instanceof TableError || error instanceof TypeError || error instanceof RangeError
}

/** Those of servers begin there. Smaller ones are of the system, which Node shows as negative. */
const FIRST_NUMBER = 1_000

/** Undefined: the error does not come from the server. */
function numberOf(error: unknown): number | undefined {
  const number = error instanceof Error && 'errno' in error ? error.errno : undefined
  return typeof number === 'number' && number >= FIRST_NUMBER ? number : undefined
}

function explanationOf(error: Error, { order }: RowsChoice, columns: readonly string[]): Explanation {
  const number = numberOf(error)
  if (number === undefined) return explainDriver(error)
  if (number === NO_COLUMN) return ['usage', `Check the names of columns. ${thereAre(columns)}`]
  const known = EXPLANATIONS[number]
  if (known !== undefined) return known
  const state = 'sqlState' in error ? String(error.sqlState) : ''
  // What has columns was tried without its order.
  if (state.startsWith('42') && order !== undefined && columns.length > 0)
    return ['usage', 'Check --order: it is what would follow ORDER BY.']
  if (state.startsWith('42')) return NOT_ONE_SELECT
  if (state.startsWith('21')) return ['usage', 'Correct the query.']
  if (state.startsWith('22'))
    return ['data', 'A value of a row is at fault: correct it in the database, or leave it out with --query.']
  return ['surroundings', `This is error ${number} of the server.`]
}

/** Errors that do not come from the server. */
function explainDriver(error: Error): Explanation {
  const text = `${'code' in error ? error.code : ''} ${messageOf(error)}`
  // The driver takes no column named __proto__, and a few others.
  if (/private property/.test(text)) return ['usage', 'Give the column another name with --query: SELECT … AS ….']
  const found = DRIVER_EXPLANATIONS.find(([pattern]) => pattern.test(text))
  return ['surroundings', found?.[1] ?? 'Check that the server is running and can be reached, then try again.']
}

const DRIVER_EXPLANATIONS: readonly (readonly [RegExp, string])[] = [
  [/ENOTFOUND|EAI_AGAIN/, 'There is no host of this name: check the URL, MYSQL_HOST and my.cnf.'],
  [
    /ECONNREFUSED|ENOENT/,
    'Nothing listens there: check that the server is running, and the host and port in the URL. To localhost without a port, the connection is by a socket.',
  ],
  [/connect ETIMEDOUT/, 'It did not answer in time: check that the server can be reached from here.'],
  [/plugin|PLUGIN/, 'Use an account with caching_sha2_password or mysql_native_password.'],
  [/SSL|TLS|certificate/i, 'Check ssl-mode and ssl-ca.'],
  [/CONNECTION_LOST|ECONNRESET|EPIPE|closed state/, LOST[1]],
]
