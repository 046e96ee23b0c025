/**
 * Reads and writes the note of a push so that no crash can spoil it. All of it at
 * once: nothing can be sent meanwhile, and while items are read ahead each turn of the event loop would be a long one.
 */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure, isSystemError } from '../failure.ts'
import { takeLock } from '../file-lock.ts'
import { partOf, removeLeftovers } from '../leftovers.ts'
import { noteText, type PushNote, parseNote } from './note.ts'

export class NoteFile {
  readonly #path: string
  /** What messages call it. */
  readonly label: string

  constructor(path: string, label: string) {
    this.#path = path
    this.label = label
  }

  /** Undefined when there is none. */
  read(url: string): PushNote | undefined {
    const text = this.#readText()
    const note = text === undefined ? undefined : parseNote(text, url)
    if (text === undefined || note !== undefined) return note
    throw new Failure(
      3,
      `${this.label} should say how much was sent to ${url} before, and cannot be understood. Nothing was sent. Look what the collection has; when you delete ${this.label}, all items are sent.`,
    )
  }

  #readText(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (isSystemError(error) && error.code === 'ENOENT') return undefined
      throw this.#explain(error)
    }
  }

  /** One push at a time: a server knows a batch again only if it comes with the same token and the same bounds. */
  lock(): Disposable {
    const path = `${this.#path}.lock`
    let lock: Disposable | undefined
    try {
      lock = takeLock(path)
    } catch (error) {
      throw this.#explain(error)
    }
    if (lock !== undefined) return lock
    throw new Failure(
      3,
      `Another push of this file is under way. Wait for its end. If there is none, delete ${this.label}.lock.`,
    )
  }

  create(note: PushNote): void {
    try {
      this.replace(note)
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** Throws the system's own error. */
  replace(note: PushNote): void {
    renameSync(this.#writePart(note), this.#path)
    this.#syncDirectory()
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }

  /** A new name is safe from a power cut when its directory is on disk. */
  #syncDirectory(): void {
    const directory = openSync(dirname(this.#path), 'r')
    try {
      fsyncSync(directory)
    } catch (error) {
      // Some file systems know no such thing.
      if (!isSystemError(error) || error.code !== 'EINVAL') throw error
    } finally {
      closeSync(directory)
    }
  }

  #writePart(note: PushNote): string {
    const part = partOf(this.#path)
    writeFileSync(part, noteText(note), { flush: true })
    return part
  }

  /** Removes what processes left that were killed while they wrote. */
  removeLeftovers(): void {
    removeLeftovers(this.#path)
  }

  #explain(error: unknown): unknown {
    if (!isSystemError(error)) return error
    const reason = ['EACCES', 'EROFS'].includes(error.code) ? 'no permission' : error.message
    return new Failure(
      3,
      `${this.label} cannot be read or written: ${reason}. It notes what was sent, so that nothing is sent twice. Put the file where you may write; or push from a pipe, which keeps no note: reams push URL -`,
      { cause: error },
    )
  }
}
