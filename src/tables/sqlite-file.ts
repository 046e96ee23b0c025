/** Opens an SQLite file of others to read from it, so that nothing stays beside it. */

import { accessSync, closeSync, constants, existsSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TableError } from './table.ts'

/**
 * To read a file in WAL mode, SQLite makes two files beside it. Only a connection that may write removes them when it
 * is the last; and in the hands of another user they would lock out the owner.
 */
export function openSqliteFile(path: string, timeout: number): DatabaseSync {
  const real = realpathSync(path)
  const beside = [`${real}-wal`, `${real}-shm`]
  if (!isInWalMode(real)) return new DatabaseSync(path, { readOnly: true, timeout })
  const mayMakeFiles = mayWrite(dirname(real))
  if (mayMakeFiles && mayWrite(real)) return openWithoutWriting(path, timeout)
  if (mayMakeFiles && !beside.every((each) => existsSync(each)))
    throw new TableError(
      'surroundings',
      `${path} is in WAL mode, and you may not write to it: reading it would leave files beside it that keep its owner out. Copy it, and read the copy; or let its owner read it.`,
    )
  return new DatabaseSync(path, { readOnly: true, timeout })
}

function openWithoutWriting(path: string, timeout: number): DatabaseSync {
  const database = new DatabaseSync(path, { timeout })
  database.exec('PRAGMA query_only = ON')
  return database
}

/** Where the header says how the file is to be read, and what it says of WAL mode. */
const READ_VERSION_AT = 19
const WAL_VERSION = 2

/**
 * The header is read only where nobody has the file open in WAL mode: whoever reads a file in another way than SQLite
 * loses the locks that SQLite has for the same process.
 */
function isInWalMode(path: string): boolean {
  if (existsSync(`${path}-wal`)) return true
  try {
    const file = openSync(path, 'r')
    try {
      const version = new Uint8Array(1)
      readSync(file, version, 0, 1, READ_VERSION_AT)
      return version[0] === WAL_VERSION
    } finally {
      closeSync(file)
    }
  } catch {
    // SQLite meets the same, and its error is explained.
    return false
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
