/** A file that is complete or not there: written as a part beside it, which gets its name when all of it is on disk. */

import { chmod, type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { free, own } from '../../items/owned-bytes.ts'
import { Failure, isSystemError } from '../failure.ts'
import { TemporaryDirectory } from '../temporary-directory.ts'
import type { OutputTarget } from './output-target.ts'

/** Bytes written at a time, unless they are flushed earlier. In a gzip file each block is a member of its own. */
const BLOCK_BYTES = 1024 * 1024

interface PartFileOptions {
  /** The name that it gets in the end. */
  readonly target: string
  /** The name that it has until then. */
  readonly path: string
  readonly isPacked: boolean
  /** How many bytes of an existing part to keep. Default: 0. */
  readonly keptBytes?: number
}

export class PartFile {
  readonly path: string
  readonly #target: string
  readonly #handle: FileHandle
  readonly #isPacked: boolean
  /** How long it is. */
  #end: number
  /** The write in progress. */
  #pending: Promise<void> = Promise.resolve()
  #waiting: Uint8Array[] = []
  #waitingBytes = 0

  private constructor({ target, path, isPacked, keptBytes = 0 }: PartFileOptions, handle: FileHandle) {
    this.path = path
    this.#target = target
    this.#handle = handle
    this.#isPacked = isPacked
    this.#end = keptBytes
  }

  /** The part gets the permissions of the file that it will replace. */
  static async open(options: PartFileOptions): Promise<PartFile> {
    const { target, path, keptBytes = 0 } = options
    const handle = await open(path, 'a')
    await handle.truncate(keptBytes)
    const existing = await stat(target).catch(() => undefined)
    if (existing !== undefined) await chmod(path, existing.mode & 0o777)
    await syncDirectoryOf(path)
    return new PartFile(options, handle)
  }

  /** Takes the bytes over: they must not be used afterwards. Throws the error of an earlier write. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= BLOCK_BYTES) await this.#writeBlock()
  }

  /** Writes everything so far, and returns the length of the file, to which it can be cut back later. */
  async flush(): Promise<number> {
    if (this.#waitingBytes > 0) await this.#writeBlock()
    await this.#pending
    return this.#end
  }

  /** Resolves when all that was flushed is on disk. More can be written meanwhile. */
  async sync(): Promise<void> {
    await this.#handle.datasync()
  }

  async clear(): Promise<void> {
    await this.#pending.catch(() => {})
    this.#waiting = []
    this.#waitingBytes = 0
    this.#end = 0
    await this.#handle.truncate(0)
  }

  /** The file is there, and on disk, when this resolves. */
  async complete(): Promise<void> {
    // Nothing at all would not be gzip.
    if ((await this.flush()) === 0 && this.#isPacked) await this.#writeBlock()
    await this.flush()
    await this.#handle.sync()
    await this.#handle.close()
    await rename(this.path, this.#target)
    await syncDirectoryOf(this.#target)
  }

  /** The part stays. */
  async close(): Promise<void> {
    await this.#pending.catch(() => {})
    await this.#handle.close()
  }

  async remove(): Promise<void> {
    await this.close()
    await rm(this.path, { force: true })
  }

  async #writeBlock(): Promise<void> {
    const pieces = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    await this.#pending
    this.#pending = this.#put(pieces)
    // The next call throws its error.
    this.#pending.catch(() => {})
  }

  async #put(pieces: readonly Uint8Array[]): Promise<void> {
    const joined = Buffer.concat(pieces)
    // Small ones may be constants.
    for (const bytes of pieces) if (bytes.byteLength > Buffer.poolSize) free(own(bytes))
    const block = this.#isPacked ? await promisify(gzip)(joined) : joined
    await this.#handle.appendFile(block)
    this.#end += block.length
    free(own(joined))
  }
}

/** The file is there, and on disk, when `write` has returned; if it fails, nothing of the file is left. */
export async function writeFile<T>(
  { path = '', isPacked }: OutputTarget,
  write: (file: PartFile) => Promise<T>,
): Promise<T> {
  using directory = temporaryDirectoryFor(path)
  const options = { target: path, path: join(directory.path, 'part'), isPacked }
  let file: PartFile | undefined
  try {
    file = await PartFile.open(options)
    const result = await write(file)
    await file.complete()
    return result
  } catch (error) {
    await file?.remove()
    throw explainWriting(error, path)
  }
}

/** A reader finds the old text or the new one, never a mix of both. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const newPath = `${path}.new`
  const file = await open(newPath, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(newPath, path)
}

/** Also what a process left that was killed while it replaced the file. */
export async function removeFile(path: string): Promise<void> {
  await rm(`${path}.new`, { force: true })
  await rm(path, { force: true })
}

/** False where there is a file already, which stays. The one that is moved may keep its old name too. */
export async function moveUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'EEXIST') return false
    // A file system without hard links.
    await rename(from, to)
    return true
  }
}

/** A name is on disk when its directory is. */
export async function syncDirectoryOf(path: string): Promise<void> {
  const directory = await open(dirname(path), 'r')
  try {
    await directory.sync()
  } catch (error) {
    // Some file systems know no such thing.
    if (!isSystemError(error) || error.code !== 'EINVAL') throw error
  } finally {
    await directory.close()
  }
}

/** For the parts of a file, on the same file system as the file. */
export function temporaryDirectoryFor(path: string): TemporaryDirectory {
  try {
    return new TemporaryDirectory(dirname(path))
  } catch (error) {
    throw explainWriting(error, path)
  }
}

/** What another path would solve, and what it would not. */
const WRONG_PATH: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'its directory is a file',
  EACCES: 'no permission to write into its directory',
  EPERM: 'no permission to write into its directory',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the name is too long',
  EISDIR: 'the name of its .part file is taken by a directory',
}
const NO_ROOM: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'the file would be too large for this file system',
}

/** Says why a path cannot be written. Only system errors are explained; others are returned as they are. */
export function explainWriting(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error
  const { code, message } = error
  const reason = WRONG_PATH[code] ?? NO_ROOM[code] ?? message
  return new Failure(code in WRONG_PATH ? 2 : 3, `${path} cannot be written: ${reason}.`, { cause: error })
}
