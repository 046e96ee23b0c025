/** What a service file says about a service: the parameters of a connection, under a name, as psql reads them. */

import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { PostgresUrlError } from './postgres-error.ts'

/** Where the packages of Debian and of Red Hat look, where PGSYSCONFDIR does not say. */
const SYSTEM_DIRECTORIES = ['/etc/postgresql-common', '/etc/sysconfig/pgsql']

/** Names of parameters and their values. Throws a PostgresUrlError where there is no such service; it shows no values. */
export function readPostgresService(service: string): ReadonlyMap<string, string> {
  const { PGSERVICEFILE: named, PGSYSCONFDIR: system, HOME: home = homedir() } = process.env
  const directories = system ? [system] : SYSTEM_DIRECTORIES
  const files = [named || join(home, '.pg_service.conf'), ...directories.map((each) => join(each, 'pg_service.conf'))]
  for (const file of files) {
    const parameters = file === named || existsSync(file) ? parametersIn(file, service) : undefined
    if (parameters !== undefined) return parameters
  }
  throw new PostgresUrlError(`There is no service "${service}" of PostgreSQL in ${files.join(', ')}.`)
}

/** Undefined: the file has no such service. */
function parametersIn(file: string, service: string): ReadonlyMap<string, string> | undefined {
  const lines = linesOf(file)
  const start = lines.indexOf(`[${service}]`)
  if (start === -1) return undefined
  const parameters = new Map<string, string>()
  for (const [index, line] of lines.entries()) {
    if (index <= start || line === '' || line.startsWith('#')) continue
    if (line.startsWith('[')) break
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (name === undefined || name === 'service')
      throw new PostgresUrlError(`Line ${index + 1} of ${file} is not a parameter: expected name=value.`)
    // As with psql, the first holds.
    if (!parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new PostgresUrlError(`The service file ${file} cannot be read: ${code}.`, { cause: error })
  }
}
