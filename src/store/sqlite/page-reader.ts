/**
 * Reads pages for many callers at once. Those that are asked for in one turn of the event loop are read on a thread of
 * their own: so the loop goes on answering, and another core does what is left of the work. A page that comes alone is
 * read on the spot, which is sooner.
 */

import { Worker } from 'node:worker_threads'
import { YOUNG_GENERATION_MB } from '../deflate-pool.ts'
import type { PageRead } from '../store.ts'
import { type PageQuestion, type PagesMessage, type PagesReply, READY, unpackPage } from './page-message.ts'
import type { FilePlace } from './store-file.ts'

/** Pages in one message: a message costs more than the pages in it, but the first of them waits for the last. */
const PAGES_A_MESSAGE = 4

interface Asked {
  readonly question: PageQuestion
  readonly resolve: (read: PageRead | undefined) => void
  readonly reject: (error: unknown) => void
}

export class PageReader {
  readonly #place: FilePlace
  readonly #readHere: (question: PageQuestion) => PageRead | undefined
  /** What was asked for in this turn. */
  #asked: Asked[] = []
  /** What the thread was asked for, by message. */
  readonly #sent = new Map<number, readonly Asked[]>()
  #thread: Worker | undefined
  #isReady = false
  /** Not after it is closed, nor where a thread cannot even open the file. */
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

  async close(): Promise<void> {
    const thread = this.#thread
    this.#forget()
    this.#mayStart = false
    await thread?.terminate()
  }

  #endTurn(): void {
    const asked = this.#asked
    this.#asked = []
    if (asked.length > 1 && this.#mayStart) this.#thread ??= this.#start()
    if (!this.#isReady || (asked.length === 1 && this.#sent.size === 0))
      for (const each of asked) this.#answerHere(each)
    else for (let at = 0; at < asked.length; at += PAGES_A_MESSAGE) this.#send(asked.slice(at, at + PAGES_A_MESSAGE))
  }

  #answerHere({ question, resolve, reject }: Asked): void {
    try {
      resolve(this.#readHere(question))
    } catch (error) {
      reject(error)
    }
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
    if (this.#sent.size === 0) this.#thread?.unref()
    for (const [index, { question, resolve, reject }] of asked.entries()) {
      try {
        resolve(unpackPage(answers[index], question))
      } catch (error) {
        reject(error)
      }
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
      else this.#isReady = this.#thread === thread
    })
    thread.on('error', () => this.#lose(thread))
    thread.on('exit', () => this.#lose(thread))
    thread.unref()
    return thread
  }

  #lose(thread: Worker): void {
    if (this.#thread !== thread) return
    this.#mayStart = this.#isReady
    this.#forget()
  }

  /** What the thread was asked for is read here, where it shows if something is wrong. */
  #forget(): void {
    const unanswered = [...this.#sent.values()].flat()
    this.#thread = undefined
    this.#isReady = false
    this.#sent.clear()
    for (const each of unanswered) this.#answerHere(each)
  }
}
