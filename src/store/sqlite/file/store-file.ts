/** The file of a store as the file system sees it, and connections to it. */

import { realpathSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import { availableMemory, planMemory } from '../../../memory/memory-plan.ts'
import { StoreError } from '../../store-error.ts'
import { checkSchema } from './check-schema.ts'

/** Where the file of a store is, and which one it is. */
export interface FilePlace {
  readonly path: string
  readonly identity: string | undefined
}

/** Tells one file from another at the same path; undefined where there is none. */
export function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats && `${stats.dev}-${stats.ino}`
}

/**
 * Folds the write-ahead log into the file, so that a copy of the file is a copy of the store. SQLite does it when the last
 * connection closes, but not if that one could only read. While other processes have the store open it is left to them.
 */
export function foldLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (log === undefined) return
  try {
    const database = openWriteConnection(path)
    database.prepare('SELECT 1 FROM head').get()
    database.close()
  } catch {
    // Nothing is lost: what is in the log is committed, and is read from there.
  }
}

/** Removes a store that has nothing in it, unless somebody else has it open. */
export function removeEmptyStore(path: string): void {
  try {
    const file = realpathSync(path)
    using database = connect(file, { timeout: 0 })
    // Nobody shares this lock, not even to read.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE')
    checkSchema(database, path)
    const inUse = database.prepare('SELECT 1 FROM head UNION ALL SELECT 1 FROM token LIMIT 1').get()
    if (inUse === undefined) for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  } catch {
    // It stays, and does no harm.
  }
}

/** Refuses to go on when there is another file at the path by now, or none. */
export function checkSameFile({ path, identity }: FilePlace): void {
  if (fileIdentity(path) === identity) return
  throw new StoreError(
    'unavailable',
    `The store ${path} was removed, or replaced by another file, while it was open. Restart the process that serves it.`,
  )
}

/** How long a connection waits for another one's lock before it gives up. */
export const BUSY_TIMEOUT_MS = 10_000

/** A connection that only reads. Each SELECT, or each BEGIN … COMMIT, sees one snapshot. */
export function openReadConnection(path: string): DatabaseSync {
  return checked(openUncheckedReader(path), path)
}

/** A connection that writes durably: a commit returns when it has reached the disk. */
export function openWriteConnection(
  path: string,
  timeout: number = BUSY_TIMEOUT_MS,
  plan = planMemory(availableMemory()),
): DatabaseSync {
  const database = checked(openUncheckedWriter(path, plan), path)
  // Not earlier: the first statements wait for other processes that close the file or recover it after a crash.
  database.exec(`PRAGMA busy_timeout = ${timeout}`)
  return database
}

/** For a file that may be no store of this format. Do not read its tables before `checkSchema`. */
export function openUncheckedReader(path: string): DatabaseSync {
  return connect(path, { readOnly: true })
}

/** The same for writing. */
export function openUncheckedWriter(path: string, { writerCacheBytes } = planMemory(availableMemory())): DatabaseSync {
  const database = connect(path)
  database.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${Math.floor(writerCacheBytes / 1024)}`)
  return database
}

/** Trusts the file as little as SQLite can, in case `checkSchema` misses something. */
function connect(path: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, defensive: true, ...options })
  database.exec('PRAGMA trusted_schema = OFF')
  return database
}

function checked(database: DatabaseSync, path: string): DatabaseSync {
  try {
    checkSchema(database, path)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
