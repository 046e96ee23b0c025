/**
 * Reads pages for many callers at once. Those that are asked for in one turn of the event loop are read on a thread of
 * their own: so the loop goes on answering, and another core does what is left of the work. A page that comes alone, or
 * first, while the thread has nothing to do, is read on the spot, which is sooner.
 */

import type { PageRead, PastRead } from '../../store.ts'
import type { PageQuestion } from '../../store-reads.ts'
import { Thread } from '../../thread.ts'
import type { FilePlace } from '../file/store-file.ts'
import { type PageAnswer, unpackPage } from './page-message.ts'

/** Pages in one message: a message costs more than the pages in it, but the first of them waits for the last. */
const PAGES_A_MESSAGE = 4
/**
 * Messages that the thread has before it at most. What goes beyond is read on the spot: then the loop takes no more
 * requests than are answered, and those of clients that have left do not pile up before all others.
 */
const MAX_MESSAGES = 16
/** Pages that are read on the spot in one turn: a large one takes as long as a hundred usual ones, and others wait. */
const TURN_BYTES = 2 * 1024 * 1024
/** The same in time: a small page of changes can be put together from hundreds of reams. */
const TURN_MS = 10

type PageThread = Thread<readonly PageQuestion[], readonly PageAnswer[]>

interface Asked {
  readonly question: PageQuestion
  readonly resolve: (read: PageRead | PastRead | undefined) => void
  readonly reject: (error: unknown) => void
}

export class PageReader {
  readonly #place: FilePlace
  readonly #readHere: (question: PageQuestion) => PageRead | PastRead | undefined
  /** What was asked for, and is not begun. */
  readonly #asked: Asked[] = []
  #thread: PageThread | undefined
  #isReady = false
  /** Not after it is closed, nor where a thread cannot be had or cannot even open the file. */
  #mayStart = true

  constructor(place: FilePlace, readHere: (question: PageQuestion) => PageRead | PastRead | undefined) {
    this.#place = place
    this.#readHere = readHere
  }

  /** The snapshot is taken after this call. */
  read(question: PageQuestion): Promise<PageRead | PastRead | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => this.#endTurn())
      this.#asked.push({ question, resolve, reject })
    })
  }

  /** The thread answers what it was asked for before. */
  async close(): Promise<void> {
    this.#mayStart = false
    this.#isReady = false
    await this.#thread?.close()
  }

  #endTurn(): void {
    if (this.#asked.length > 1 && this.#mayStart) this.#thread ??= this.#tryStart()
    const thread = this.#isReady ? this.#thread : undefined
    // Until a thread that had nothing to do is back, the loop would wait: it reads a page itself meanwhile.
    const own = (thread?.callCount ?? 0) === 0 ? this.#asked.splice(0, 1) : []
    while (thread !== undefined && thread.callCount < MAX_MESSAGES && this.#asked.length > 0)
      void this.#askThread(thread, this.#asked.splice(0, PAGES_A_MESSAGE))
    const endsAt = performance.now() + TURN_MS
    let bytes = this.#answerHere(own)
    while (this.#asked.length > 0 && bytes < TURN_BYTES && performance.now() < endsAt)
      bytes += this.#answerHere(this.#asked.splice(0, 1))
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

  /** What a thread that was lost did not answer is read here, where it shows if something is wrong. */
  async #askThread(thread: PageThread, asked: readonly Asked[]): Promise<void> {
    try {
      const answers = await thread.ask(asked.map(({ question }) => question))
      for (const [index, each] of asked.entries()) settle(each, answers[index])
    } catch {
      this.#answerHere(asked)
    }
  }

  /** The system may have no thread left, and the process may not be allowed to have one. */
  #tryStart(): PageThread | undefined {
    const onEnd = (): void => {
      this.#thread = undefined
      this.#mayStart = this.#isReady
      this.#isReady = false
    }
    try {
      const thread: PageThread = new Thread('store/sqlite/read/page-thread', { data: this.#place, onEnd })
      const isReady = (): void => {
        this.#isReady = this.#mayStart
      }
      // Whoever is asked for nothing answers as soon as it can.
      thread.ask([]).then(isReady, () => {})
      return thread
    } catch {
      this.#mayStart = false
      return undefined
    }
  }
}

function settle({ question, resolve, reject }: Asked, answer: PageAnswer): void {
  try {
    resolve(unpackPage(answer, question))
  } catch (error) {
    reject(error)
  }
}
