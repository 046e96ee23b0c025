/** The file of a store as the file system sees it. */

import { statSync } from 'node:fs'
import { StoreError } from '../store-error.ts'
import { openWriteConnection } from './connection.ts'

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

/** Refuses to go on when there is another file at the path by now, or none. */
export function checkSameFile({ path, identity }: FilePlace): void {
  if (fileIdentity(path) === identity) return
  throw new StoreError(
    'unavailable',
    `The store ${path} was removed, or replaced by another file, while it was open. Restart what serves it.`,
  )
}
