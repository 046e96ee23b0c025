/**
 * Copies the file of a store while others write to it. The copy is complete by itself, and no writer waits for it.
 *
 * A connection holds a snapshot meanwhile. Until it ends SQLite folds nothing newer into the file, and keeps in the log what
 * it is folding. So the bytes of the file, then those of the log, are what a crash could have left: SQLite takes all complete
 * commits of the log and puts them over what the file has. docs/decisions/0025-backups-copy-the-file.md has the proof.
 */

import { openSync, read } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { explainError, notAStore } from '../rows/explain-error.ts'
import { APPLICATION_ID, prepareStore } from '../schema.ts'
import { checkOnlyName } from './other-name.ts'
import { foldLog, openReadConnection, openUncheckedWriter } from './store-file.ts'

export interface CopyFileOptions {
  /** Whether somebody may write to it meanwhile. If not, a medium that cannot be written to will do. Default true. */
  readonly isInUse?: boolean
  /** Its reason is thrown when it is aborted. */
  readonly signal?: AbortSignal
  readonly onProgress?: (bytes: number) => void
}

const CHUNK_BYTES = 4 * 1024 * 1024

/** Where an SQLite file has the id of its application. */
const APPLICATION_ID_AT = 68

/** `to` must not exist. It is on disk when this resolves, for its owner alone. When it rejects, a part of it may be there. */
export async function copyStoreFile(from: string, to: string, options: CopyFileOptions = {}): Promise<void> {
  const { isInUse = true } = options
  try {
    if (isInUse) await copyInUse(from, to, options)
    else await copyUnused(from, to, options)
  } catch (error) {
    throw explainError(error, from)
  }
  foldWholeLog(to)
}

async function copyInUse(from: string, to: string, options: CopyFileOptions): Promise<void> {
  await checkOnlyName(from)
  await prepareStore(from, false)
  try {
    // Never closed: when a process closes one descriptor of a file, it loses all its locks on it, SQLite's included.
    const source = openSync(from, 'r')
    using database = openReadConnection(from)
    database.exec('BEGIN')
    database.prepare('SELECT 1 FROM head').get()
    await copyBytes(source, to, options)
    await copyLog(from, to, options)
  } finally {
    foldLog(from)
  }
}

async function copyUnused(from: string, to: string, options: CopyFileOptions): Promise<void> {
  await using source = await open(from, 'r')
  await checkHeader(source.fd, from)
  await copyBytes(source.fd, to, options)
}

async function checkHeader(source: number, path: string): Promise<void> {
  const id = Buffer.alloc(4)
  await promisify(read)(source, id, 0, id.length, APPLICATION_ID_AT)
  if (id.readUInt32BE() !== APPLICATION_ID) throw notAStore(path, 'its header is another one')
}

async function copyLog(from: string, to: string, options: CopyFileOptions): Promise<void> {
  await using log = await open(`${from}-wal`, 'r')
  const { size } = await log.stat()
  await copyBytes(log.fd, `${to}-wal`, { ...options, onProgress: () => {} }, size)
}

/** Reads a chunk while the one before is written. At most `end` bytes: writers may append faster than this copies. */
async function copyBytes(source: number, to: string, options: CopyFileOptions, end = Number.POSITIVE_INFINITY) {
  const { signal, onProgress = () => {} } = options
  await using target = await open(to, 'wx', 0o600)
  let [chunk, other] = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)]
  let writing: Promise<void> = Promise.resolve()
  for (let position = 0; position < end; ) {
    const reading = promisify(read)(source, chunk, 0, Math.min(chunk.length, end - position), position)
    const [{ bytesRead }] = await Promise.all([reading, writing])
    signal?.throwIfAborted()
    onProgress(position)
    writing = writeAll(target, chunk, bytesRead)
    if (bytesRead === 0) break
    position += bytesRead
    ;[chunk, other] = [other, chunk]
  }
  await writing
  await target.sync()
}

/** In one call, where `writeFile` would take several. */
async function writeAll(target: FileHandle, bytes: Uint8Array, count: number): Promise<void> {
  for (let done = 0; done < count; ) done += (await target.write(bytes, done, count - done)).bytesWritten
}

/** The last connection to close removes the log, once all of it is in the file. Reads no table, so nothing has to be checked. */
function foldWholeLog(path: string): void {
  try {
    using database = openUncheckedWriter(path)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    throw explainError(error, path)
  }
}
