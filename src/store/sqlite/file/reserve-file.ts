/**
 * The reserve file `<store>-reserve`: disk space that no other program can take. Deletes write to the log first, so on a full disk
 * nothing could be removed. The writer thread then removes this file and has room. It is created again when there is space.
 *
 * Processes that share a store share the file, without a lock. Two that create it write the same range. A process that removes it
 * while another one extends it gets the space once the other process notices, at most one chunk later. If the file comes back too early,
 * an operation that needs the space fails for lack of it, removes the file again and retries.
 */

import { randomFillSync } from 'node:crypto'
import { closeSync, constants, openSync, readSync, realpathSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { readDiskSpace, reserveBytesOf } from './disk-space.ts'

/** Identifies our file, and explains it to people who open it. */
const MARK =
  'Reams keeps this file so that history can be removed when the disk is full. Reams creates it again if you delete it.\n'

/** The first one has the mark. */
const CHUNK_BYTES = 256 * 1024

/** Next to the file itself, as SQLite's log is, where the path is a link. */
export function reservePath(path: string): string {
  return `${realpathSync(path)}-reserve`
}

/**
 * Creates the file, or extends one that is incomplete, as far as the disk has room. Where that is impossible the store works
 * without a reserve, so errors are ignored.
 */
export async function fillReserve(path: string, signal: AbortSignal): Promise<void> {
  try {
    const disk = readDiskSpace(path)
    if (disk === undefined) return
    const target = reservePath(path)
    const present = statSync(target, { throwIfNoEntry: false })?.size ?? 0
    const wanted = reserveBytesOf(disk)
    // The log needs some space too: without any, nothing could be written to free pages of the store.
    const size = Math.min(wanted, present + disk.freeBytes - wanted / 2)
    if (size <= present || (present > 0 && !isReserve(target))) return
    // SQLite gives the log the mode of the store too.
    await using file = await open(
      target,
      constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
      statSync(path).mode & 0o666,
    )
    for (let position = present; position < size && !signal.aborted; ) {
      const chunk = chunkAt(position, size)
      const { bytesWritten } = await file.write(chunk, 0, chunk.length, position)
      position += bytesWritten
      // Another process needs the space, and gets it when the file is closed.
      if ((await file.stat()).nlink === 0) return
    }
  } catch {
    // A full or read-only disk, or a directory that this user cannot write to.
  }
}

/** Random, so that no file system can compress it or leave holes. */
function chunkAt(position: number, size: number): Buffer {
  const chunk = randomFillSync(Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - position)))
  if (position === 0) chunk.write(MARK)
  return chunk
}

/** Removes the file. False if there is none. */
export function releaseReserve(path: string): boolean {
  try {
    const target = reservePath(path)
    if (!isReserve(target)) return false
    rmSync(target)
    return true
  } catch {
    return false
  }
}

function isReserve(target: string): boolean {
  const start = Buffer.alloc(MARK.length)
  const file = openSync(target, 'r')
  try {
    readSync(file, start, 0, start.length, 0)
    return start.toString() === MARK
  } finally {
    closeSync(file)
  }
}
