/** A lock on a path, which the system releases when its process ends in whatever way. */

import { closeSync, fstatSync, openSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** SQLite's error for a database that another connection has locked. */
const SQLITE_BUSY = 5

/** The locks of this process. */
const held = new Set<string>()

/**
 * Returns undefined while somebody else holds the lock. It is an exclusive transaction on an empty database, and so a lock of the
 * kernel: it is valid in all containers of a machine, and on NFS for all machines. Throws if the file cannot be created or locked.
 */
export function takeLock(path: string): Disposable | undefined {
  // One name for each file, also where a link leads to its directory.
  const name = join(realpathSync(dirname(path)), basename(path))
  // Another attempt would end with closing a descriptor of the file, and with that the process would lose its lock.
  if (held.has(name)) return undefined
  for (;;) {
    // Stays open as long as the lock is held, for the same reason.
    const descriptor = openSync(name, 'a')
    const database = new DatabaseSync(name, { timeout: 0 })
    const release = () => {
      database.close()
      closeSync(descriptor)
    }
    if (!tryLock(database, release)) return undefined
    // The previous holder may have removed the file in the meantime: then this is a lock on nothing.
    if (statSync(name, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino) {
      held.add(name)
      return {
        [Symbol.dispose]() {
          rmSync(name, { force: true })
          release()
          held.delete(name)
        },
      }
    }
    release()
  }
}

function tryLock(database: DatabaseSync, release: () => void): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    release()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false
    throw error
  }
}
