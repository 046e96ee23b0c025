/**
 * Refuses a file with anything in its schema that Reams does not create.
 *
 * Views and triggers are code that runs when a table is read or written: a view in place of a table can run forever, a trigger can
 * undo what was written. SQLite only parses the rows of sqlite_schema, so reading them first is safe.
 */

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { shorten } from '../../../contract/message-text.ts'
import { readProgramText } from '../../../program-files/program-files.ts'
import { StoreError } from '../../store-error.ts'

/** Indexes that SQLite makes for primary keys have no SQL. */
const READ_SCHEMA = 'SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL'

/** Tables that SQLite makes, for ANALYZE for example. */
const SQLITE_TABLE = /^CREATE TABLE sqlite_(?:sequence|stat[134])\(\w+(?:,\w+)*\)$/

/** Far more than any statement of ours, with its comments, and little enough to be normalized in no time. */
const MAX_LENGTH = 10_000

/** Must be called before any table of the file is read. Throws a StoreError that names the first foreign object. */
export function checkSchema(database: DatabaseSync, path: string): void {
  for (const { type, name, sql } of database.prepare(READ_SCHEMA).all())
    if (!isKnown(sql)) throw foreignObject(path, kindOf(type, sql), String(name))
}

/** Statements that were accepted before, as SQLite has them: a process opens many connections to one store. */
const accepted = new Set<string>()

function isKnown(sql: SQLOutputValue | undefined): boolean {
  if (typeof sql !== 'string' || sql.length > MAX_LENGTH) return false
  if (accepted.has(sql)) return true
  const statement = normalize(sql)
  if (!knownStatements().has(statement) && !SQLITE_TABLE.test(statement)) return false
  accepted.add(sql)
  return true
}

let known: ReadonlySet<string> | undefined

/** The statements of schema.sql. If a format is ever migrated, those of the old format belong here too. */
function knownStatements(): ReadonlySet<string> {
  known ??= new Set(
    normalize(readProgramText('store/sqlite/schema.sql'))
      .split(';')
      .map((statement) => statement.trim())
      .filter((statement) => statement.startsWith('CREATE ')),
  )
  return known
}

/** Comments and white space outside of quoted text. SQLite stores a statement with its comments, which may be reworded. */
const GAPS = /('(?:[^']|'')*'|"(?:[^"]|"")*")|(?:[ \t\n\f\r]+|--[^\n]*|\/\*.*?\*\/)+/gs

function normalize(sql: string): string {
  return sql.replace(GAPS, (_match, quotedText: string | undefined) => quotedText ?? ' ')
}

function kindOf(type: SQLOutputValue | undefined, sql: SQLOutputValue | undefined): string {
  if (/^CREATE VIRTUAL/i.test(String(sql))) return 'virtual table'
  return ['table', 'index', 'view', 'trigger'].find((kind) => kind === type) ?? 'object'
}

function foreignObject(path: string, kind: string, name: string): StoreError {
  const start = `CREATE ${kind.toUpperCase()} ${name} `
  const isOurs = [...knownStatements()].some((statement) => statement.startsWith(start))
  const [flaw, advice] = isOurs
    ? ['which is not as Reams creates it', '']
    : ['which Reams does not create', ` If you added it yourself, remove the ${kind} with sqlite3.`]
  return new StoreError(
    'corrupt',
    `The store ${path} has the ${kind} "${shorten(name)}", ${flaw}: another program changed the store, or it comes from somebody else. Nothing was read from it. Restore a backup.${advice}`,
  )
}
