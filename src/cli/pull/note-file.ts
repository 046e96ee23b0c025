/** Reads and writes the note of a pull. */

import { readFile } from 'node:fs/promises'
import { createFile, removeFile, replaceFile } from '../durable-file.ts'
import { Failure, isSystemError } from '../failure.ts'
import { noteText, type PullNote, parseNote } from './note.ts'

export class PullNoteFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Undefined when there is none; a text that is no note is 'damaged'. */
  async read(): Promise<PullNote | 'damaged' | undefined> {
    try {
      return parseNote(await readFile(this.path, 'utf8')) ?? 'damaged'
    } catch (error) {
      if (isSystemError(error) && error.code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Begins a pull. Of two that begin at the same time one wins. */
  async begin(note: PullNote): Promise<void> {
    try {
      if ((await this.read()) === undefined) await createFile(this.path, noteText(note))
      else await replaceFile(this.path, noteText(note))
    } catch (error) {
      if (isSystemError(error) && error.code === 'EEXIST') throw this.#isTaken()
      throw error
    }
  }

  /** Unless another pull has begun meanwhile, which then writes to the same part. */
  async replace(note: PullNote): Promise<void> {
    if (!(await this.isOf(note))) throw this.#isTaken()
    await replaceFile(this.path, noteText(note))
  }

  /** Whether the note that is there is one of the same pull. */
  async isOf({ id }: PullNote): Promise<boolean> {
    const current = await this.read()
    return typeof current === 'object' && current.id === id
  }

  async remove(): Promise<void> {
    await removeFile(this.path)
  }

  #isTaken(): Failure {
    return new Failure(
      3,
      `${this.path} was changed or removed by another pull to the same file. This one has ended. Let only one run.`,
    )
  }
}
