/** A thread of the store, and the calls and replies between it and its owner. */

import { type MessagePort, parentPort, type Worker } from 'node:worker_threads'
import { keepThread, takeThread } from './kept-threads.ts'
import { StoreError } from './store-error.ts'

/** Replies that are handed on in one turn of the event loop. */
const REPLIES_A_TURN = 8

/** The owner's last message: the thread finishes the calls before it, closes what it has opened, and sends it back. */
const END = 'end'

/** A call or a reply, with the number of the call. */
export type Numbered<T> = readonly [id: number, content: T]
export type ThreadMessage<Call> = readonly Numbered<Call>[] | typeof END

interface Waiting<Reply> {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

export interface ThreadOptions<Reply> {
  /** The first message to the thread. */
  readonly data?: unknown
  /** Send the calls of one turn of the event loop together: a message costs more than the calls in it. Default false. */
  readonly isBatching?: boolean
  /** Called with the replies that the thread sent together. */
  readonly onReplies?: (replies: readonly Reply[]) => void
  /** Called once, when nothing more can be asked, before those who still wait are refused. */
  readonly onEnd?: () => void
}

export class Thread<Call, Reply> {
  readonly #worker: Worker
  readonly #isBatching: boolean
  readonly #hasEnded: Promise<unknown>
  readonly #waiting = new Map<number, Waiting<Reply>>()
  /** Calls that are yet to be sent, and replies whose callers are yet to be told. */
  readonly #calls: Numbered<Call>[] = []
  readonly #given: ArrayBuffer[] = []
  readonly #replies: Numbered<Reply>[] = []
  #lastId = 0
  #isClosing = false

  /** Starts the module at `path`, as `startThread` takes it. */
  constructor(path: string, options: ThreadOptions<Reply> = {}) {
    const { data, isBatching = false, onReplies, onEnd = () => {} } = options
    this.#isBatching = isBatching
    const worker = takeThread(path)
    this.#worker = worker
    const { promise, resolve: end } = Promise.withResolvers<unknown>()
    const receive = (replies: readonly Numbered<Reply>[] | typeof END): void => {
      if (replies === END) {
        worker.off('message', receive).off('error', lose).off('exit', end)
        keepThread(path, worker)
        end(undefined)
        return
      }
      onReplies?.(replies.map(([, reply]) => reply))
      this.#replies.push(...replies)
      if (this.#replies.length === replies.length) this.#settleSome()
    }
    let isLost = false
    const lose = (error: unknown): void => {
      if (isLost) return
      isLost = true
      onEnd()
      this.#refuseAll(error)
    }
    worker.on('message', receive).once('error', lose).once('exit', end)
    this.#hasEnded = promise
    void this.#hasEnded.then(() => lose(new StoreError('closed', 'The store was closed before the write was done.')))
    worker.postMessage(data)
    worker.unref()
  }

  /** How many calls are not answered yet. */
  get callCount(): number {
    return this.#waiting.size
  }

  /** Memory in `given` goes along, and is the thread's then. */
  ask(call: Call, given: readonly ArrayBuffer[] = []): Promise<Reply> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#given.push(...given)
      // Only while somebody waits for it does the thread keep the process alive.
      this.#worker.ref()
      if (this.#calls.push([id, call]) > 1) return
      if (this.#isBatching) setImmediate(() => this.#post())
      else this.#post()
    })
  }

  /** Not `terminate`: zlib aborts the process if it is cut off between two of its steps. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#post()
    this.#worker.ref()
    this.#worker.postMessage(END)
    await this.#hasEnded
  }

  #post(): void {
    const [calls, given] = [this.#calls.splice(0), this.#given.splice(0)]
    try {
      if (calls.length > 0) this.#worker.postMessage(calls, given)
    } catch {
      // Something in one of them cannot be sent. That one fails alone.
      for (const call of calls) this.#postAlone(call)
    }
  }

  #postAlone(call: Numbered<Call>): void {
    try {
      this.#worker.postMessage([call])
    } catch (error) {
      this.#take(call[0])?.reject(error)
    }
  }

  /** If all who waited for one commit were told at once, whoever only reads would wait until all are answered. */
  #settleSome(): void {
    for (const [id, reply] of this.#replies.splice(0, REPLIES_A_TURN)) this.#take(id)?.resolve(reply)
    if (this.#replies.length > 0) setImmediate(() => this.#settleSome())
  }

  #take(id: number): Waiting<Reply> | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0 && !this.#isClosing) this.#worker.unref()
    return waiting
  }

  #refuseAll(error: unknown): void {
    for (const [id, reply] of this.#replies.splice(0)) this.#take(id)?.resolve(reply)
    this.#calls.length = 0
    this.#given.length = 0
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** In a thread: `begin` gets what an owner hands over, and returns what takes its messages. It calls `end` after END. */
export function serveOwners<Data, Call>(
  begin: (data: Data, port: MessagePort, end: () => void) => (message: ThreadMessage<Call>) => void,
): void {
  const port = parentPort
  if (port === null) return
  let take: ((message: ThreadMessage<Call>) => void) | undefined
  const end = (): void => {
    take = undefined
    port.postMessage(END)
  }
  port.on('message', (message) => {
    if (take === undefined) take = begin(message, port, end)
    else take(message)
  })
}

/** In a thread: answers calls one after the other; memory that goes along is the receiver's then. */
export function answerCalls<Data, Call, Reply>(
  begin: (data: Data) => {
    readonly answer: (call: Call) => { readonly reply: Reply; readonly memory?: ArrayBuffer[] }
    readonly close?: () => void
  },
): void {
  serveOwners<Data, Call>((data, port, end) => {
    const { answer, close } = begin(data)
    return (message) => {
      if (message === END) {
        close?.()
        end()
      } else
        for (const [id, call] of message) {
          const { reply, memory = [] } = answer(call)
          port.postMessage([[id, reply]], memory)
        }
    }
  })
}
