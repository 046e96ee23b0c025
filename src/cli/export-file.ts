/** The file of an export: written beside its final name, which it gets when it is complete. */

import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Failure, isSystemError } from './failure.ts'

export class ExportFile {
  readonly path: string
  /** What the lines flow through, the file last. */
  readonly streams: readonly NodeJS.WritableStream[]

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    const file: Writable = handle.createWriteStream({ flush: true })
    this.streams = path.endsWith('.gz') ? [createGzip(), file] : [file]
  }

  /** Refuses a path where something is already, unless `isForced`; a directory always. */
  static async open(path: string, isForced: boolean): Promise<ExportFile> {
    const existing = await stat(path).catch(() => undefined)
    if (existing?.isDirectory()) throw new Failure(2, `${path} is a directory. Name a file in it.`)
    if (existing !== undefined && !isForced)
      throw new Failure(2, `${path} is there already. Name another file, or add --force to overwrite it.`)
    try {
      return new ExportFile(path, await open(partOf(path), 'w'))
    } catch (error) {
      if (!isSystemError(error)) throw error
      const reason = error.code === 'ENOENT' ? 'its directory does not exist' : error.code
      throw new Failure(2, `${path} cannot be written: ${reason}.`, { cause: error })
    }
  }

  async commit(): Promise<void> {
    await rename(partOf(this.path), this.path)
  }

  async abort(): Promise<void> {
    await rm(partOf(this.path), { force: true })
  }
}

function partOf(path: string): string {
  return `${path}.part`
}
