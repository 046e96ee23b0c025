/** Makes the tables of a new store, safely when several processes start at once, and refuses what is not a store of this format. */

import { closeSync, openSync, type Stats, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { readProgramText } from '../../program-files/program-files.ts'
import { checkFormat, FORMAT_VERSION, missingStore, StoreError } from '../store-error.ts'
import { checkSchema } from './file/check-schema.ts'
import { checkOnlyName } from './file/other-name.ts'
import { openUncheckedReader, openUncheckedWriter } from './file/store-file.ts'
import { isLocked, notAStore, PERMISSIONS } from './rows/explain-error.ts'
import { defineRowSum } from './rows/row-sum.ts'

/** "Ream" in the header of the file tells a store from any other SQLite database. */
export const APPLICATION_ID = 0x5265616d

/** A ream of 15 KB lies on two of these instead of four. */
const PAGE_BYTES = 8192

/** Before this version a crash could corrupt a database in WAL mode. */
const OLDEST_SQLITE = '3.51.3'

/** Makes sure that `path` holds a store. A file that is refused is left as it was. */
export async function prepareStore(path: string, mayCreate: boolean): Promise<void> {
  checkSqliteVersion(process.versions['sqlite'] ?? '0')
  const size = sizeOf(path)
  if (size === undefined && !mayCreate) throw missingStore(path, path)
  if (size === 0 && !mayCreate) throw notAStore(path, 'it is an empty file')
  if (size === undefined) createPrivateFile(path)
  if (size === undefined || size === 0) return makeTables(path)
  // It stays open meanwhile, so that nobody can open the file under another name unnoticed.
  using database = openUncheckedReader(path)
  if (isMade(database, path)) return
  await checkOnlyName(path)
  await makeTables(path)
}

async function makeTables(path: string): Promise<void> {
  using database = openUncheckedWriter(path)
  checkNotForeign(database, path)
  await switchToWal(database)
  runSchema(database, path)
}

/** The size of the file; undefined if there is none. */
function sizeOf(path: string): number | undefined {
  const stats = statOf(path)
  if (stats?.isDirectory()) throw notAStore(path, 'it is a directory')
  return stats?.size
}

/** For its owner alone, where SQLite would go by the umask. SQLite gives the log and its index the mode of the file. */
function createPrivateFile(path: string): void {
  try {
    // Also through a link. A file that another process made meanwhile stays as it is; an empty one is a new database.
    closeSync(openSync(path, 'a', 0o600))
  } catch {
    // SQLite meets the same, and its error is explained.
  }
}

/**
 * Looks without changing anything, and refuses what is not ours. SQLite reads the file: its newest state can lie in the
 * log, and a file of a database must not be opened in any other way, because closing it would undo SQLite's locks.
 */
function isMade(database: DatabaseSync, path: string): boolean {
  checkNotForeign(database, path)
  const version = readPragma(database, 'user_version')
  if (version > 0) checkFormat(path, version)
  // A file of another format was refused by now, for a better reason.
  checkSchema(database, path)
  return version > 0 && readPragma(database, 'application_id') === APPLICATION_ID
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR')
      throw notAStore(path, 'a part of its path is a file, not a directory')
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreError('read-only', `The store ${path} cannot be reached: ${reason}. ${PERMISSIONS}`, {
      cause: error,
    })
  }
}

/** SQLite does not wait for other processes on this one pragma, so it is tried again. */
async function switchToWal(database: DatabaseSync): Promise<void> {
  for (let tries = 100; ; tries--) {
    try {
      database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL`)
      return
    } catch (error) {
      if (tries === 0 || !isLocked(error)) throw error
      await sleep(50)
    }
  }
}

function runSchema(database: DatabaseSync, path: string): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    // Read again under the write lock: another process may have been here first.
    if (!isMade(database, path)) {
      defineRowSum(database)
      database.exec(readProgramText('store/sqlite/schema.sql'))
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT_VERSION}`)
    }
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
}

/** A database with tables that does not say it is ours is not ours to change. */
function checkNotForeign(database: DatabaseSync, path: string): void {
  // First: whoever makes a store at this moment commits its tables and its id together.
  const hasTables = database.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined
  const applicationId = readPragma(database, 'application_id')
  if (applicationId === APPLICATION_ID) return
  if (applicationId !== 0 || hasTables) throw notAStore(path, 'it is the SQLite database of another application')
}

/** Exported for its test: which SQLite this Node brings cannot be chosen there. */
export function checkSqliteVersion(version: string): void {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const [oldMajor = 0, oldMinor = 0, oldPatch = 0] = OLDEST_SQLITE.split('.').map(Number)
  const isOld = major - oldMajor || minor - oldMinor || patch - oldPatch
  if (isOld < 0)
    throw new StoreError(
      'unsupported',
      `This Node.js includes SQLite ${version}, which can corrupt a store; Reams needs ${OLDEST_SQLITE} or newer. Update Node.js 24.`,
    )
}
