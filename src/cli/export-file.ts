/** The file of an export: written beside its final name, which it gets when it is complete. */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Failure, isSystemError } from './failure.ts'

export class ExportFile {
  readonly path: string
  /** What the lines flow through, the file last. */
  readonly streams: readonly NodeJS.WritableStream[]
  /** Where the lines go until all are there; undefined for a pipe or a device, which has no other place. */
  readonly #part: { readonly path: string; readonly target: string } | undefined

  private constructor(path: string, handle: FileHandle, part?: { path: string; target: string }) {
    this.path = path
    this.#part = part
    const file: Writable = handle.createWriteStream({ flush: part !== undefined })
    this.streams = path.endsWith('.gz') ? [createGzip(), file] : [file]
  }

  /** Refuses a path where a file is already, unless `isForced`; a directory always. A link is followed. */
  static async open(path: string, isForced: boolean): Promise<ExportFile> {
    const existing = await stat(path).catch(() => undefined)
    if (existing?.isDirectory()) throw new Failure(2, `${path} is a directory. Name a file in it.`)
    if (existing?.isFile() && !isForced)
      throw new Failure(2, `${path} is there already. Name another file, or add --force to overwrite it.`)
    try {
      if (existing !== undefined && !existing.isFile()) return new ExportFile(path, await open(path, 'w'))
      const target = await realpath(path).catch(() => path)
      const part = `${target}.${randomUUID().slice(0, 8)}.part`
      return new ExportFile(path, await open(part, 'wx'), { path: part, target })
    } catch (error) {
      if (!isSystemError(error)) throw error
      const reason = error.code === 'ENOENT' ? 'its directory does not exist' : error.code
      throw new Failure(2, `${path} cannot be written: ${reason}.`, { cause: error })
    }
  }

  async commit(): Promise<void> {
    if (this.#part !== undefined) await rename(this.#part.path, this.#part.target)
  }

  async abort(): Promise<void> {
    if (this.#part !== undefined) await rm(this.#part.path, { force: true })
  }
}
