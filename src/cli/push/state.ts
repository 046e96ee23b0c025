/** How far a push has come: which items are acknowledged, and which batch was sent and not answered. */

import { createHash, hash, randomUUID } from 'node:crypto'
import { isSystemError } from '../failure.ts'
import { type Batch, textOf } from './batch.ts'
import type { PushNote, Unanswered } from './note.ts'
import type { NoteFile } from './note-file.ts'
import { PushStopped } from './stopped.ts'

/** A server remembers a request for 24 hours: an hour less, for one that is under way. */
const REMEMBERED_MS = 23 * 60 * 60 * 1000

export class PushState {
  /** What was known when this push began. */
  readonly noted: PushNote
  /** Items from the beginning on: those known before that have been read again, and those acknowledged now. */
  acknowledged = 0
  unanswered: Unanswered | undefined
  readonly #file: NoteFile | undefined
  readonly #hash = createHash('sha256')
  readonly #token: string
  /** Whether more is known than the note said. */
  #isNews = false

  private constructor(noted: PushNote, token: string, file: NoteFile | undefined) {
    this.noted = noted
    this.unanswered = noted.unanswered
    this.#file = file
    // Too short for finding the token by trying.
    this.#token = hash('sha256', `${noted.id} ${token}`).slice(0, 8)
  }

  /** Reads the note, or makes one: it is on disk by then. Without a file nothing is kept. */
  static open(url: string, token: string, file?: NoteFile): PushState {
    const now = { url, id: randomUUID(), acknowledged: 0, sha256: '', at: Date.now(), unanswered: undefined }
    file?.removeLeftovers()
    const known = file?.read(url)
    if (known === undefined) file?.create(now)
    return new PushState(known ?? now, token, file)
  }

  get isKept(): boolean {
    return this.#file !== undefined
  }

  /** What messages call the note. */
  get noteLabel(): string {
    return this.#file?.label ?? ''
  }

  /** The idempotency key of a batch: the same one whenever it is sent. */
  keyOf({ first }: Batch): string {
    return `${this.noted.id}:${first + 1}`
  }

  /** Whether a server still knows the unanswered batch, should it have taken it. A clock can be set back, too. */
  isRemembered(now: number): boolean {
    return this.unanswered === undefined || Math.abs(now - this.unanswered.since) < REMEMBERED_MS
  }

  get isSameToken(): boolean {
    return this.unanswered === undefined || this.unanswered.token === this.#token
  }

  /** The user has looked, and it is not there. */
  sendAnew(): void {
    if (this.unanswered !== undefined) this.unanswered = this.#sentNow(this.unanswered.items)
  }

  #sentNow(items: number): Unanswered {
    return { items, since: Date.now(), token: this.#token }
  }

  /** Notes that a batch is about to be sent, and what was acknowledged before. Throws a PushStopped when it must not be. */
  sending({ count }: Batch): void {
    const before = this.unanswered
    this.unanswered ??= this.#sentNow(count)
    const obstacle = this.#obstacle()
    if (obstacle === undefined) return
    this.unanswered = before
    throw new PushStopped(3, before !== undefined, obstacle)
  }

  #obstacle(): string | undefined {
    try {
      return this.save() ? undefined : `${this.noteLabel} is not the note of this push any more. Start it again.`
    } catch (error) {
      if (!isSystemError(error)) throw error
      return `${this.noteLabel} cannot be written: ${error.message}. Nothing is sent that is not noted there.`
    }
  }

  /** These items are there: acknowledged now or before. */
  pass(batch: Batch): void {
    for (const bytes of textOf(batch)) this.#hash.update(bytes)
    this.acknowledged += batch.count
    if (this.acknowledged <= this.noted.acknowledged) return
    this.unanswered = undefined
    this.#isNews = true
  }

  /** Of all items passed so far. */
  get sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  /** False, and nothing is written, if the note is another one by now: somebody deleted it, and began anew. */
  save(): boolean {
    if (this.#file === undefined) return true
    const { url, id } = this.noted
    const current = this.#file.read(url)
    if (current !== undefined && current.id !== id) return false
    const { acknowledged, sha256, unanswered } = this
    this.#file.replace({ url, id, acknowledged, sha256, at: Date.now(), unanswered })
    this.#isNews = true
    return true
  }

  /** Leaves the last word on disk; of a push that came to nothing, nothing. */
  close(): void {
    if (this.#isNews) this.save()
    const current = this.#file?.read(this.noted.url)
    const isNothing = current?.acknowledged === 0 && current.unanswered === undefined
    if (isNothing && current.id === this.noted.id) this.#file?.remove()
  }
}
