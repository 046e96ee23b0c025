/**
 * Reads pages for many callers at once. Those that are asked for in one turn of the event loop are read on a thread of
 * their own: so the loop goes on answering, and another core does what is left of the work. A page that comes alone, or
 * first, while the thread has nothing to do, is read on the spot, which is sooner.
 */

import { Worker } from 'node:worker_threads'
import { YOUNG_GENERATION_MB } from '../../deflate-pool.ts'
import type { PageRead } from '../../store.ts'
import type { FilePlace } from '../file/store-file.ts'
import { END } from '../write/thread-message.ts'
import { type PageQuestion, type PagesMessage, type PagesReply, READY, unpackPage } from './page-message.ts'

/** Pages in one message: a message costs more than the pages in it, but the first of them waits for the last. */
const PAGES_A_MESSAGE = 4
/**
 * Messages that the thread has before it at most. What goes beyond is read on the spot: then the loop takes no more
 * requests than are answered, and those of clients that have left do not pile up before all others.
 */
const MAX_MESSAGES = 16
/** Pages that are read on the spot in one turn: a large one takes as long as a hundred usual ones, and others wait. */
const TURN_BYTES = 2 * 1024 * 1024

interface Asked {
  readonly question: PageQuestion
  readonly resolve: (read: PageRead | undefined) => void
  readonly reject: (error: unknown) => void
}

export class PageReader {
  readonly #place: FilePlace
  readonly #readHere: (question: PageQuestion) => PageRead | undefined
  /** What was asked for, and is not begun. */
  readonly #asked: Asked[] = []
  /** What the thread was asked for, by message. */
  readonly #sent = new Map<number, readonly Asked[]>()
  #thread: Worker | undefined
  #isReady = false
  /** Not after it is closed, nor where a thread cannot be had or cannot even open the file. */
  #mayStart = true
  #lastId = 0

  constructor(place: FilePlace, readHere: (question: PageQuestion) => PageRead | undefined) {
    this.#place = place
    this.#readHere = readHere
  }

  /** The snapshot is taken after this call. */
  read(question: PageQuestion): Promise<PageRead | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => this.#endTurn())
      this.#asked.push({ question, resolve, reject })
    })
  }

  /** The thread answers what it was asked for before. */
  async close(): Promise<void> {
    this.#mayStart = false
    this.#isReady = false
    const thread = this.#thread
    if (thread === undefined) return
    const hasEnded = new Promise((resolve) => thread.once('exit', resolve))
    thread.ref()
    // Not `terminate`: zlib aborts the process if it is cut off between two of its steps.
    thread.postMessage(END)
    await hasEnded
  }

  #endTurn(): void {
    if (this.#asked.length > 1 && this.#mayStart) this.#thread ??= this.#tryStart()
    // Until a thread that had nothing to do is back, the loop would wait: it reads a page itself meanwhile.
    const own = this.#sent.size === 0 ? this.#asked.splice(0, 1) : []
    while (this.#isReady && this.#sent.size < MAX_MESSAGES && this.#asked.length > 0)
      this.#send(this.#asked.splice(0, PAGES_A_MESSAGE))
    let bytes = this.#answerHere(own)
    while (this.#asked.length > 0 && bytes < TURN_BYTES) bytes += this.#answerHere(this.#asked.splice(0, 1))
    if (this.#asked.length > 0) setImmediate(() => this.#endTurn())
  }

  /** Answers how many bytes of items these were. */
  #answerHere(asked: readonly Asked[]): number {
    let bytes = 0
    for (const { question, resolve, reject } of asked) {
      try {
        const read = this.#readHere(question)
        for (const { rawLength } of read?.segments ?? []) bytes += rawLength
        resolve(read)
      } catch (error) {
        reject(error)
      }
    }
    return bytes
  }

  #send(asked: readonly Asked[]): void {
    const id = ++this.#lastId
    this.#sent.set(id, asked)
    // Only while somebody waits for it does the thread keep the process alive.
    this.#thread?.ref()
    const message: PagesMessage = { id, questions: asked.map(({ question }) => question) }
    this.#thread?.postMessage(message)
  }

  #receive({ id, answers }: PagesReply): void {
    const asked = this.#sent.get(id) ?? []
    this.#sent.delete(id)
    if (this.#sent.size === 0 && this.#mayStart) this.#thread?.unref()
    for (const [index, { question, resolve, reject }] of asked.entries()) {
      try {
        resolve(unpackPage(answers[index], question))
      } catch (error) {
        reject(error)
      }
    }
  }

  /** The system may have no thread left, and the process may not be allowed to have one. */
  #tryStart(): Worker | undefined {
    try {
      return this.#start()
    } catch {
      this.#mayStart = false
      return undefined
    }
  }

  #start(): Worker {
    // Beside this file, under the same extension: .ts in a clone, .js in the package.
    const thread = new Worker(new URL(import.meta.url.replace(/page-reader\.([jt]s)$/, 'page-thread.$1')), {
      workerData: this.#place,
      // Flags that the program was started with, such as --input-type, may not fit a thread.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    thread.on('message', (message: PagesReply | typeof READY) => {
      if (message !== READY) this.#receive(message)
      else this.#isReady = this.#mayStart
    })
    thread.on('error', () => this.#lose(thread))
    thread.on('exit', () => this.#lose(thread))
    thread.unref()
    return thread
  }

  /** What the thread was asked for is read here, where it shows if something is wrong. */
  #lose(thread: Worker): void {
    if (this.#thread !== thread) return
    const unanswered = [...this.#sent.values()].flat()
    this.#sent.clear()
    this.#thread = undefined
    this.#mayStart = this.#isReady
    this.#isReady = false
    this.#answerHere(unanswered)
  }
}
