/** A file that is complete or not there: written as a part beside it, which gets its name when all of it is on disk. */

import { chmod, type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Failure, isSystemError } from '../failure.ts'

/** So much is written at a time, unless it is flushed before; in a gzip file it becomes one member. */
const BLOCK_BYTES = 1024 * 1024

export interface PartFileOptions {
  /** The name that it gets in the end. */
  readonly target: string
  /** The name that it has until then. */
  readonly path: string
  readonly isPacked: boolean
  /** The bytes of a part that is there already and goes on behind them; with 0 of them it is made anew. */
  readonly keptBytes?: number
}

export class PartFile {
  readonly path: string
  readonly #target: string
  readonly #handle: FileHandle
  readonly #isPacked: boolean
  /** How long it is. */
  #end: number
  /** What runs on while the next bytes are made. */
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

  /** Who may read the file that is there may read the new one, and nobody else. */
  static async open(options: PartFileOptions): Promise<PartFile> {
    const { target, path, keptBytes = 0 } = options
    const handle = await open(path, 'a')
    await handle.truncate(keptBytes)
    const existing = await stat(target).catch(() => undefined)
    if (existing !== undefined) await chmod(path, existing.mode & 0o777)
    await syncDirectoryOf(path)
    return new PartFile(options, handle)
  }

  /** Takes the bytes over: nobody may use them afterwards. Resolves when the next can come, throws what became of earlier ones. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= BLOCK_BYTES) await this.#writeBlock()
  }

  /** Answers how long the file is when all that came is written: a place to which it can be cut back. */
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
    // Whoever comes next is told.
    this.#pending.catch(() => {})
  }

  async #put(pieces: readonly Uint8Array[]): Promise<void> {
    const joined = Buffer.concat(pieces)
    for (const bytes of pieces) free(bytes)
    const block = this.#isPacked ? await promisify(gzip)(joined) : joined
    await this.#handle.appendFile(block)
    this.#end += block.length
    free(joined)
  }
}

/** Waiting for their collection, page after page, would cost much memory. Small buffers share theirs. */
function free({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize) buffer.transfer(0)
}

/** Whoever reads the file finds the old text or the new one, never a part of either. */
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

/** What is for the user to mend by another path, and what is not. */
const WRONG_PATH: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'what should be its directory is a file',
  EACCES: 'no permission to write into its directory',
  EPERM: 'no permission to write into its directory',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the name is too long',
  EISDIR: 'what should be its part is a directory',
}
const NO_ROOM: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EFBIG: 'it would be larger than files can be here',
}

/** Why a file, or what `path` is else, cannot be made or written. Any error but those of the system stays as it is. */
export function explainWriting(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error
  const { code, message } = error
  const reason = WRONG_PATH[code] ?? NO_ROOM[code] ?? message
  return new Failure(code in WRONG_PATH ? 2 : 3, `${path} cannot be written: ${reason}.`, { cause: error })
}
