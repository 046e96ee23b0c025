/**
 * Reads pages of changes, one after the other, on a thread of their own. One can take a hundred times as long as any other page,
 * because it may be put together from hundreds of reams: so nobody else waits for it. Those who ask for the same page before it is
 * begun, such as all who waited for a change, share it.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { NO_ROOM } from '../../segment.ts'
import type { PageRead, PastRead } from '../../store.ts'
import type { PageQuestion } from '../../store-reads.ts'
import { Thread } from '../../thread.ts'
import type { FilePlace } from '../file/store-file.ts'
import { copyAnswer, type PageAnswer, unpackPage } from './page-message.ts'

type Read = PageRead | PastRead | undefined

interface Asked {
  readonly question: PageQuestion
  /** The same for those who can share an answer. */
  readonly key: string
  readonly resolve: (read: Read) => void
  readonly reject: (error: unknown) => void
}

export class ChangesReader {
  readonly #place: FilePlace
  readonly #readHere: (question: PageQuestion) => Read
  /** What was asked for, and is not begun. */
  #asked: Asked[] = []
  #isWorking = false
  #thread: Thread<readonly PageQuestion[], readonly PageAnswer[]> | undefined

  constructor(place: FilePlace, readHere: (question: PageQuestion) => Read) {
    this.#place = place
    this.#readHere = readHere
  }

  /** The snapshot is taken after this call. */
  read(question: PageQuestion): Promise<Read> {
    const { name, page, isPublicOnly, past, form } = question
    const key = JSON.stringify([name, page, isPublicOnly, past, form])
    return new Promise((resolve, reject) => {
      this.#asked.push({ question, key, resolve, reject })
      if (!this.#isWorking) void this.#work()
    })
  }

  async close(): Promise<void> {
    await this.#thread?.close()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    await nextTurn()
    for (let [first] = this.#asked; first !== undefined; [first] = this.#asked) {
      const { key } = first
      const sharing = this.#asked.filter((each) => each.key === key)
      this.#asked = this.#asked.filter((each) => each.key !== key)
      await this.#answer(first.question, sharing)
    }
    this.#isWorking = false
  }

  /** What a thread that cannot be had, or was lost, does not answer is read here, where it shows if something is wrong. */
  async #answer(question: PageQuestion, sharing: readonly Asked[]): Promise<void> {
    try {
      const [answer] = await this.#started().ask([question])
      for (const each of sharing.slice(1))
        settle(each, () => unpackPage(copyAnswer(answer), { ...question, room: NO_ROOM }))
      for (const each of sharing.slice(0, 1)) settle(each, () => unpackPage(answer, question))
    } catch {
      for (const each of sharing) settle(each, () => this.#readHere(question))
    }
  }

  #started(): Thread<readonly PageQuestion[], readonly PageAnswer[]> {
    const onEnd = (): void => {
      this.#thread = undefined
    }
    this.#thread ??= new Thread('store/sqlite/read/page-thread', { data: this.#place, onEnd })
    return this.#thread
  }
}

function settle({ resolve, reject }: Asked, read: () => Read): void {
  try {
    resolve(read())
  } catch (error) {
    reject(error)
  }
}
