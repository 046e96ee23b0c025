/** SQLite's result codes, and damaged rows, as errors that say what to do. */

import { damagedCollection } from '../../collection-rules.ts'
import { StoreError } from '../../store-error.ts'

/** Primary result codes of SQLite. */
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const CONSTRAINT = 19
const NOT_A_DATABASE = 26
/** SQLite could not extend the index of the log. */
const NO_ROOM_FOR_INDEX = IO_ERROR | (19 << 8)

/** Turns whatever SQLite threw into a StoreError; anything else passes as it is. */
export function explainError(error: unknown, path: string): unknown {
  if (isDamage(error))
    return new StoreError(
      'corrupt',
      `The store ${path} is damaged: ${error.message}. Restore it from a backup; \`reams verify\` has details.`,
      { cause: error },
    )
  const code = resultCode(error)
  if (code === undefined || !(error instanceof Error)) return error
  const cause = { cause: error }
  if (isFull(error))
    return new StoreError(
      'full',
      `The disk of the store ${path} is full. Nothing of this write was kept. ${FREE_SPACE}`,
      cause,
    )
  switch (code & 0xff) {
    case BUSY:
    case LOCKED:
      return new StoreError(
        'unavailable',
        `The store ${path} is locked by another process that has been writing for a long time. Try again in a moment.`,
        cause,
      )
    case READ_ONLY:
    case CANNOT_OPEN:
      return new StoreError('read-only', `The store ${path} cannot be opened: ${error.message}. ${PERMISSIONS}`, cause)
    case IO_ERROR:
      return new StoreError(
        'unavailable',
        `The disk failed on the store ${path}: ${error.message}. Check the disk and its free space, then try again.`,
        cause,
      )
    case NOT_A_DATABASE:
      return notAStore(path, 'it is not an SQLite database')
    default:
      return new StoreError('unavailable', `SQLite failed on the store ${path}: ${error.message}.`, cause)
  }
}

/** What to do about a full disk. */
export const FREE_SPACE =
  'Drop history (`reams forget NAME`) or collections (`reams drop NAME`), or free space on the disk; writes resume without a restart.'

/** What to do about a store that this user cannot open. */
export const PERMISSIONS = 'The file and its directory must be readable and writable for this user.'

export function notAStore(path: string, reason: string): StoreError {
  return new StoreError('not-a-store', `${path} is not a Reams store: ${reason}. Name another path with --store.`)
}

/** Whether the file is damaged. A number that JavaScript cannot hold is none that was ever written. */
export function isDamage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = resultCode(error)
  return code === undefined ? 'code' in error && error.code === 'ERR_OUT_OF_RANGE' : (code & 0xff) === CORRUPT
}

/** Whether one call alone may have met it, such as one to a damaged collection. A full disk, for one, is met by all. */
export function isOfOneCall(error: unknown): boolean {
  const code = resultCode(error)
  return code === undefined || [CORRUPT, CONSTRAINT].includes(code & 0xff)
}

/** Whether the statement asked for what the schema forbids, such as a second row with a key. */
export function isAgainstConstraint(error: unknown): boolean {
  const code = resultCode(error)
  return code !== undefined && (code & 0xff) === CONSTRAINT
}

/** Whether the disk has no room for a write. */
export function isFull(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'full'
  const code = resultCode(error)
  return code !== undefined && ((code & 0xff) === FULL || code === NO_ROOM_FOR_INDEX)
}

/** Whether another connection was in the way: then it may work a moment later. */
export function isLocked(error: unknown): boolean {
  const code = resultCode(error)
  return code !== undefined && [BUSY, LOCKED].includes(code & 0xff)
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

/** Reads rows of a collection that the reader may know of: what SQLite finds damaged there is named after it. */
export function inCollection<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw isDamage(error) ? damagedCollection(name, `SQLite says: ${error.message}.`) : error
  }
}
