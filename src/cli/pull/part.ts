/** What was pulled so far, in a file: it takes pages, and now and then notes how much of it is certain. */

import { rename, rm } from 'node:fs/promises'
import type { Page, Sink, Step, WalkState } from '../../client/index.ts'
import { removeFile, syncDirectoryOf } from '../durable-file.ts'
import type { PartFile } from '../part-file.ts'
import type { PullForm } from './form.ts'
import { type PullNote, writeNote } from './note.ts'

/** What a crash costs at most, beside what a sync of the disk takes. */
const NOTE_EVERY_MS = 1000

export interface PullPartOptions {
  readonly file: PartFile
  readonly form: PullForm
  /** The names of the fields that were found, where they are looked for. */
  readonly fields: () => readonly string[]
  /** Undefined: the file is for this process alone. */
  readonly notePath: string | undefined
  /** What is known when it begins. */
  readonly note: PullNote
  /** Told when all that was written is dropped. */
  readonly onRestart: () => void
}

export class PullPart implements Sink {
  readonly #options: PullPartOptions
  /** What the note on disk says, or is about to. */
  #note: PullNote
  #saving: Promise<void> = Promise.resolve()
  /** When there shall be another note; never while one is being written. */
  #nextNoteMs = performance.now() + NOTE_EVERY_MS
  #isEnding = false
  /** How far it has come. */
  walk: WalkState | undefined
  /** Of items, in this process. */
  bytes = 0
  /** All that are in the part. */
  items: number

  constructor(options: PullPartOptions) {
    this.#options = options
    this.#note = options.note
    this.walk = options.note.walk
    this.items = this.walk?.items ?? 0
  }

  get path(): string {
    return this.#options.file.path
  }

  /** How many items the note on disk says. */
  get certainItems(): number {
    return this.#note.walk?.items ?? 0
  }

  /** Takes over what an earlier pull has written. */
  async adopt(content: AsyncIterable<Uint8Array>, walk: WalkState): Promise<void> {
    for await (const bytes of content) await this.#options.file.write(bytes)
    this.walk = walk
    this.items = walk.items
    await this.save()
  }

  async page(page: Page, { first, state }: Step<unknown>): Promise<void> {
    const { file, form } = this.#options
    const lines = page.ndjson(first)
    const text = form.render(lines, this.items)
    this.items += page.length - first
    this.bytes += lines.length
    this.walk = state
    await file.give(text)
    if (performance.now() >= this.#nextNoteMs) await this.#startSaving()
  }

  async restart(): Promise<void> {
    await this.#saving
    this.walk = undefined
    this.items = 0
    // The note first: it must never say more than there is.
    await this.#save(0)
    await syncDirectoryOf(this.path)
    await this.#options.file.clear()
    this.#options.onRestart()
  }

  /** All that came so far is certain when this resolves. */
  async save(): Promise<void> {
    await this.#startSaving()
    await this.#saving
  }

  /** The items stand in the part as they shall in the end, and get the name of the whole. */
  async complete(target: string): Promise<void> {
    const { file, form } = this.#options
    await this.#saving
    this.#isEnding = true
    await file.write(form.end(this.items))
    await file.finish()
    await rename(this.path, target)
    await syncDirectoryOf(target)
    await this.#removeNote()
  }

  /** Keeps what came so far, if it can and there is any. */
  async stop(): Promise<void> {
    // With its end behind the items nothing can be added to the part: then the note stays as it is.
    if (!this.#isEnding) await this.save().catch(() => {})
    if (this.certainItems === 0) await this.remove()
    else await this.#options.file.close()
  }

  async remove(): Promise<void> {
    await this.#options.file.close()
    await rm(this.path, { force: true })
    await this.#removeNote()
  }

  /** What comes meanwhile is for the next note. */
  async #startSaving(): Promise<void> {
    await this.#saving
    this.#nextNoteMs = Number.POSITIVE_INFINITY
    this.#saving = this.#save(await this.#options.file.flush()).finally(() => {
      this.#nextNoteMs = performance.now() + NOTE_EVERY_MS
    })
    // The next one who waits is told.
    this.#saving.catch(() => {})
  }

  async #save(bytes: number): Promise<void> {
    const { file, notePath, fields } = this.#options
    if (notePath === undefined) return
    const note = { ...this.#note, bytes, walk: this.walk, fields: fields() }
    await file.sync()
    await writeNote(notePath, note)
    this.#note = note
  }

  async #removeNote(): Promise<void> {
    const { notePath } = this.#options
    if (notePath !== undefined) await removeFile(notePath)
  }
}
