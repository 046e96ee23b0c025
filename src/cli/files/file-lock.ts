/** A lock beside a file: one process at a time holds it, and one that was killed holds nothing. */

import { closeSync, fstatSync, openSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** SQLite's error for a database that somebody else has locked. */
const SQLITE_BUSY = 5

/**
 * Undefined while another process holds it. The lock is an exclusive transaction on an empty database, which the system
 * ends with its process. Throws where no file can be made, or none can be locked.
 */
export function takeLock(path: string): Disposable | undefined {
  for (;;) {
    // It must stay open: the system gives up the locks of a process on a file with the first descriptor that is closed.
    const descriptor = openSync(path, 'a')
    const database = new DatabaseSync(path, { timeout: 0 })
    const release = () => {
      database.close()
      closeSync(descriptor)
    }
    if (!isLocked(database, release)) return undefined
    // The one who held it before may have removed the file in the meantime, and then this is a lock on nothing.
    if (statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino)
      return {
        [Symbol.dispose]() {
          rmSync(path, { force: true })
          release()
        },
      }
    release()
  }
}

function isLocked(database: DatabaseSync, release: () => void): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    release()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false
    throw error
  }
}
