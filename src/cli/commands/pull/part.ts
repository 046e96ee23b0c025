/** What was pulled so far: a part of the file, and a note beside it of how much of that is certain to be on disk. */

import { readFile } from 'node:fs/promises'
import type { Page, Sink, Step, WalkState } from '../../../client/index.ts'
import { isSystemError } from '../../failure.ts'
import { createFormat, type FormatOptions, type ItemFormat } from '../../files/item-format.ts'
import { PartFile, removeFile, replaceFile, syncDirectoryOf } from '../../files/part-file.ts'

/** A crash costs at most what came in this time, and during a sync of the disk. */
const NOTE_EVERY_MS = 1000

const ABOUT = 'The progress of reams pull in the file next to this one. --resume continues from there.'
const VERSION = 3

/** What is pulled: only the same can be resumed. */
export interface PullSubject extends FormatOptions {
  readonly url: string
  readonly isPacked: boolean
  /** Whether these are changes, to which more are appended: the note of a complete file then stays. Default: false. */
  readonly isChanges?: boolean
}

/** What the note holds beside the subject: how much is certain. */
export interface Progressed {
  /** Of the part; what is behind them is not certain. */
  readonly bytes: number
  /** How far the walk had come then; undefined: nowhere. */
  readonly walk: WalkState | undefined
  /** The columns of CSV, once they are known. */
  readonly foundColumns: readonly string[]
}

export type PullNote = PullSubject & Progressed

export const NOTHING_YET: Progressed = { bytes: 0, walk: undefined, foundColumns: [] }

export function partPath(path: string): string {
  return `${path}.part`
}

function notePath(path: string): string {
  return `${partPath(path)}.json`
}

/** Undefined where there is none, or what is there is no note. */
export async function readNote(path: string): Promise<PullNote | undefined> {
  try {
    const { about, version, ...note } = JSON.parse(await readFile(notePath(path), 'utf8'))
    return version === VERSION ? note : undefined
  } catch (error) {
    // ENOTDIR is reported when the note is written.
    if (!isSystemError(error) || error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  }
}

/** Removes what holds nothing of use. Where it cannot be removed it does no harm. */
export async function removeLeftovers(path: string): Promise<void> {
  for (const leftover of [partPath(path), notePath(path)]) await removeFile(leftover).catch(() => {})
}

/** A sink for the pages of a pull. */
export class PullPart implements Sink {
  readonly format: ItemFormat
  readonly #path: string
  readonly #file: PartFile
  readonly #onRestart: () => void
  /** What the note on disk says, or is about to. */
  #note: PullNote
  #saving: Promise<void> = Promise.resolve()
  /** When the next note is due; never while one is being written. */
  #nextNoteMs = performance.now() + NOTE_EVERY_MS
  #isEnding = false
  /** How far it has come. */
  walk: WalkState | undefined
  /** Of items, in this process. */
  bytes = 0
  /** All that are in the part. */
  items: number

  private constructor(path: string, file: PartFile, note: PullNote, onRestart: () => void) {
    this.#path = path
    this.#file = file
    this.#note = note
    this.#onRestart = onRestart
    this.format = createFormat(note, note.foundColumns)
    this.walk = note.walk
    this.items = this.walk?.items ?? 0
  }

  /** Goes on behind what the note says. `onRestart` is told when all that was written is dropped. */
  static async open(path: string, note: PullNote, onRestart: () => void): Promise<PullPart> {
    const { bytes: keptBytes, isPacked } = note
    try {
      // The note first: it must never say more than there is.
      await writeNote(path, note)
      const file = await PartFile.open({ target: path, path: partPath(path), isPacked, keptBytes })
      return new PullPart(path, file, note, onRestart)
    } catch (error) {
      if (note.walk === undefined) await removeLeftovers(path)
      throw error
    }
  }

  /** How many items the note on disk says. */
  get certainItems(): number {
    return this.#note.walk?.items ?? 0
  }

  async page(page: Page, { first, state }: Step<unknown>): Promise<void> {
    const lines = page.ndjson(first)
    const text = this.format.render(lines, this.items)
    this.items += page.length - first
    this.bytes += lines.length
    this.walk = state
    await this.#file.write(text)
    if (performance.now() >= this.#nextNoteMs) await this.#startSaving()
  }

  async restart(): Promise<void> {
    await this.#saving
    this.walk = undefined
    this.items = 0
    await this.#save(0)
    await syncDirectoryOf(this.#path)
    await this.#file.clear()
    this.#onRestart()
  }

  async complete(): Promise<void> {
    await this.#saving
    if (this.#note.isChanges) await this.#save(await this.#file.flush())
    this.#isEnding = true
    await this.#file.write(this.format.end(this.items))
    await this.#file.complete()
    if (!this.#note.isChanges) await removeFile(notePath(this.#path))
  }

  /** Keeps what came so far, if it can and there is any. */
  async stop(): Promise<void> {
    // The closing text may already be in the part, so nothing can follow it: the note stays as it is.
    if (!this.#isEnding) await this.#startSaving().catch(() => {})
    await this.#saving.catch(() => {})
    if (this.certainItems === 0) await this.remove()
    else await this.#file.close()
  }

  async remove(): Promise<void> {
    await this.#file.remove()
    await removeFile(notePath(this.#path))
  }

  /** What arrives meanwhile is covered by the next note. */
  async #startSaving(): Promise<void> {
    await this.#saving
    this.#nextNoteMs = Number.POSITIVE_INFINITY
    this.#saving = this.#save(await this.#file.flush()).finally(() => {
      this.#nextNoteMs = performance.now() + NOTE_EVERY_MS
    })
    // The next to wait for it gets the error.
    this.#saving.catch(() => {})
  }

  async #save(bytes: number): Promise<void> {
    const note = { ...this.#note, bytes, walk: this.walk, foundColumns: this.format.columns }
    await this.#file.sync()
    await writeNote(this.#path, note)
    this.#note = note
  }
}

async function writeNote(path: string, note: PullNote): Promise<void> {
  await replaceFile(notePath(path), `${JSON.stringify({ about: ABOUT, version: VERSION, ...note }, null, 1)}\n`)
}
