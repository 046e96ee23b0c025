/** What PostgreSQL and its driver say about a table or a query, as errors that say what to do. Never with a password. */

import { isConnectionLost, messageOf, stateOf } from '../postgres/postgres-error.ts'
import { nameOf, type RowsChoice, semicolonAdvice, TableError, type TableErrorKind, thereAre } from './table.ts'

/** `columns` as far as they are known. */
export function explainPostgresError(
  error: unknown,
  choice: RowsChoice,
  label: string,
  columns: readonly string[] = [],
): unknown {
  if (!(error instanceof Error) || error instanceof TableError || isOurs(error)) return error
  const [kind, advice] = explanationOf(error, choice, columns)
  const reason = messageOf(error).replace(/\.$/, '')
  const more = stateOf(error) === SYNTAX ? semicolonAdvice(choice) : ''
  return new TableError(kind, `${nameOf(choice)} in ${label}: ${reason}. ${advice}${more}`, { cause: error })
}

/** A mistake in this program, or the end that the user asked for. */
function isOurs(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError
}

const SYNTAX = '42601'

type Explanation = readonly [TableErrorKind, string]

/** By SQLSTATE, or the first letters of it. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  '0A': ['usage', 'Check the query; it has to be one SELECT that only reads.'],
  '08P01': ['usage', 'Check the query; there are no values for parameters such as $1.'],
  '08': ['surroundings', 'The connection was lost. Try again.'],
  '21': ['usage', 'Correct the query.'],
  '22': ['data', 'A value of a row is at fault: correct it in the database, or leave it out with --query.'],
  '25001': ['usage', 'Only what changes nothing is run: give a query that reads.'],
  '25006': ['usage', 'Only what changes nothing is run: give a query that reads.'],
  '28': ['surroundings', 'Check the user and the password, which is read from the URL, PGPASSWORD or ~/.pgpass.'],
  '3D000': ['usage', 'Check the name of the database, at the end of the URL.'],
  '40001': ['surroundings', 'A standby had to catch up with its primary. Try again, or read from the primary.'],
  '42501': ['surroundings', 'Its owner can allow it: GRANT USAGE ON SCHEMA …; GRANT SELECT ON TABLE ….'],
  '42': ['usage', 'Check the query; it has to be one SELECT, without a second statement.'],
  '55P03': [
    'surroundings',
    'Others have held a lock on a table for longer than lock_timeout. Try again, or raise lock_timeout: ALTER ROLE … SET lock_timeout = ….',
  ],
  '53': ['surroundings', 'The server is out of resources. Try again in a moment.'],
  '57014': ['surroundings', 'Somebody cancelled it on the server. Try again.'],
  '57P': ['surroundings', 'The server is stopping, or somebody ended the connection. Try again.'],
}

/** In whatever language the server speaks, it names the file. */
const NOT_LET_IN: Explanation = [
  'surroundings',
  'If the server demands TLS, add sslmode=require to the URL, or set PGSSLMODE; else an administrator has to let this user in, in pg_hba.conf.',
]

/** The function of the server that says so: the state is that of a missing right. */
const ROW_SECURITY_CHECK = 'check_enable_rls'
const ROWS_LEFT_OUT: Explanation = [
  'surroundings',
  'This role has row_security off. Set it on to get the rows that its policies show, or read as a role with BYPASSRLS to get all.',
]

function explanationOf(error: Error, { table, order }: RowsChoice, columns: readonly string[]): Explanation {
  // A pooler has a code of its own for a wrong password.
  const state = /password authentication/.test(error.message) ? '28P01' : stateOf(error)
  if (state === undefined) return explainDriver(error)
  if (state === '42703' && columns.length > 0) return ['usage', thereAre(columns)]
  if (state.startsWith('42') && state !== '42501' && table !== undefined && order !== undefined)
    return ['usage', 'Check --order: it is what would follow ORDER BY.']
  if (/pg_hba\.conf/.test(error.message)) return NOT_LET_IN
  if ('routine' in error && error.routine === ROW_SECURITY_CHECK) return ROWS_LEFT_OUT
  const known = EXPLANATIONS[state] ?? EXPLANATIONS[state.slice(0, 3)] ?? EXPLANATIONS[state.slice(0, 2)]
  return known ?? ['surroundings', `This is SQLSTATE ${state}.`]
}

/** Errors that do not come from the server. */
function explainDriver(error: Error): Explanation {
  const message = messageOf(error)
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return ['surroundings', 'There is no host of this name: check the URL.']
  if (/ECONNREFUSED|ENOENT/.test(message))
    return [
      'surroundings',
      'Nothing listens there: check that the server is running, and the host and port in the URL.',
    ]
  if (/password/i.test(message)) return ['surroundings', 'Give it with PGPASSWORD or in ~/.pgpass.']
  if (/SSL|certificate/i.test(message)) return ['surroundings', 'Check sslmode and sslrootcert in the URL.']
  if (isConnectionLost(error)) return ['surroundings', 'The connection was lost. Try again.']
  return ['surroundings', 'Check that the server is running and can be reached, then try again.']
}
