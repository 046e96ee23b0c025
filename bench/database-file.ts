/** An SQLite database as files: how large they are, into the system's cache with them, away with them. */

import { createReadStream, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'

/** With what its log holds. */
export function databaseBytes(path: string): number {
  return [path, `${path}-wal`].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
}

/** Reads the file once: what is measured afterwards is not the disk. */
export async function readIntoCache(path: string): Promise<void> {
  for await (const _ of createReadStream(path, { highWaterMark: 1024 * 1024 }));
}

/** For a question that writes much: it removes the database when it ends, however it ends. */
export function removedAtEnd(path: string): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => removeDatabase(path) }
}

export async function removeDatabase(path: string): Promise<void> {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) await rm(file, { force: true })
}
