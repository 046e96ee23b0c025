/** Clients that write and read at the same time, as long as they are let, and put all of it into the history. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../bench/random.ts'
import { lastPage } from '../../src/contract/page.ts'
import { waitUntil } from '../wait-until.ts'
import type { Write, WriteRequest } from './collection-log.ts'
import { type Answer, Connection, ConnectionLost } from './connection.ts'
import { type History, LOG, THINGS } from './history.ts'
import { NextWrite } from './next-write.ts'
import { readPage } from './walk.ts'

/** What a write gets that found the disk full: nothing of it was kept. */
const FULL = 507

/** Between two tries of what the server could not do. */
const RETRY_MS = 20

/** What a server says that does not know whether it has done a write. */
const OUTCOME_UNKNOWN = '/-/problems/outcome-unknown"'

/** Longer than it takes to be served again after any fault. */
const MAX_MS_UNTIL_SERVED = 60_000

/** The limits of a random moment. */
const MAX_WRITES = 80
const MAX_EXTRA_MS = 30
const MAX_MS = 5_000

export interface WorkloadKind {
  /** Where the clients connect to. Default: to the server of the store. */
  readonly url?: string
  /** Connections that write. Default 4. */
  readonly writers?: number
  /** Connections that write besides, without idempotency keys. Default 0. */
  readonly keylessWriters?: number
  /** Connections that read. Default 1. */
  readonly readers?: number
  /**
   * The server lives through the fault: then every request is answered, a 503 tells when to try again, and nothing was
   * written unless it says that nobody knows. Default false.
   */
  readonly isSteady?: boolean
}

export interface WorkloadOptions extends WorkloadKind {
  readonly url: string
  readonly token: string
  readonly history: History
  readonly random: Random
}

/** When a write was sent for the last time and answered, in milliseconds since 1970. */
export interface Acknowledgement {
  readonly id: string
  readonly sentMs: number
  readonly answeredMs: number
}

export class Workload {
  readonly #options: WorkloadOptions
  readonly #running: Promise<unknown>
  #isStopped = false
  /** Statuses of the kind 5xx that are no surprise at the moment. */
  tolerated: readonly number[] = []
  /** How many requests were answered with one of them. */
  failures = 0
  /** How many writes were answered so that nobody knows what became of them. */
  unknowns = 0
  /** How many reads were answered. */
  reads = 0
  /** The longest that an answer took. */
  longestMs = 0
  readonly acknowledgements: Acknowledgement[] = []
  readonly #clients: readonly string[]
  /** When the last write was sent that each client had acknowledged. */
  readonly #lastServedMs = new Map<string, number>()
  readonly #msAtOrigin = wallClockAtOrigin()

  /** Begins at once. */
  constructor(options: WorkloadOptions) {
    this.#options = options
    const { writers = 4, keylessWriters = 0, readers = 1 } = options
    const clients = Array.from({ length: writers }, (_, index) => `c${index}`)
    const keyless = Array.from({ length: keylessWriters }, (_, index) => `k${index}`)
    this.#clients = [...clients, ...keyless]
    this.#running = Promise.all([
      ...clients.map((client) => this.#write(client, false)),
      ...keyless.map((client) => this.#write(client, true)),
      ...Array.from({ length: readers }, () => this.#read()),
    ])
  }

  /** A moment within the work, as random as the machine is: after so many acknowledgements, and some milliseconds. */
  async randomMoment(): Promise<void> {
    const { random } = this.#options
    const startedAt = performance.now()
    const count = random(MAX_WRITES)
    while (this.acknowledgements.length < count && performance.now() - startedAt < MAX_MS) await sleep(5)
    await sleep(random(MAX_EXTRA_MS))
  }

  /** Resolves when a write of every client was acknowledged that was sent from now on. */
  async servedAgain(): Promise<void> {
    const sinceMs = this.#wallClock()
    const isServed = (client: string) => (this.#lastServedMs.get(client) ?? 0) >= sinceMs
    await waitUntil(() => this.#clients.every(isServed), MAX_MS_UNTIL_SERVED).catch(() =>
      this.#options.history.findings.add('other', 'not every client was served again'),
    )
  }

  /** Lets what is under way come to its end. A write that the server cannot do is not tried again. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #write(client: string, isKeyless: boolean): Promise<void> {
    const { url, token, history, random } = this.#options
    using connection = new Connection(url, token)
    const nextWrite = new NextWrite(client, history, random, isKeyless)
    while (!this.#isStopped) {
      const { write, whenDone } = nextWrite.begin()
      await this.#send(connection, write)
      if (write.fate === 'acknowledged') whenDone()
      else if (isKeyless) await sleep(RETRY_MS)
      else if (write.fate === 'unknown') return
    }
  }

  /** Sends a write until its fate is known, or the connection dies; once only if it has no idempotency key. */
  async #send(connection: Connection, write: Write): Promise<void> {
    const { history } = this.#options
    for (;;) {
      const toleratedBefore = this.tolerated
      const sentMs = this.#wallClock()
      const answer = await sendWrite(connection, write)
      const answeredMs = this.#wallClock()
      if (answer === undefined) return this.#loseSight(write, answeredMs - sentMs)
      this.longestMs = Math.max(this.longestMs, answeredMs - sentMs)
      if (answer.status < 300) {
        this.acknowledgements.push({ id: write.id, sentMs, answeredMs })
        this.#lastServedMs.set(write.id.split('-', 1)[0] ?? '', sentMs)
        return history.acknowledge(write, itemCountOf(write.request, answer))
      }
      this.#judgeFailure(write, answer, toleratedBefore)
      if (answer.status < 500 || answer.status === FULL) return history.settle(write, false)
      if (this.#isStopped || write.request.isKeyless)
        return write.mayBeDone ? history.loseSight(write) : history.settle(write, false)
      await sleep(RETRY_MS)
    }
  }

  #loseSight(write: Write, ms: number): void {
    const { history, isSteady } = this.#options
    if (isSteady) history.findings.add('other', `${write.id} was not answered, and the connection lost after ${ms} ms`)
    history.loseSight(write)
  }

  #judgeFailure(write: Write, answer: Answer, toleratedBefore: readonly number[]): void {
    const { isSteady = false } = this.#options
    const saysUnknown = answer.status === 503 && answer.body.includes(OUTCOME_UNKNOWN)
    if (saysUnknown) this.unknowns++
    if (saysUnknown || !isSteady) write.mayBeDone = true
    if (saysUnknown && write.request.isKeyless) return
    this.#tolerate(answer, toleratedBefore, write.id)
    if (isSteady && answer.status === 503 && answer.retryAfter === undefined && !saysUnknown)
      this.#options.history.findings.add('other', `${write.id} was not told when to try again: ${answer.body}`)
  }

  /** Whether an answer that is no success is one that was to be expected. */
  #tolerate({ status, body }: Answer, toleratedBefore: readonly number[], what: string): boolean {
    const isTolerated = toleratedBefore.includes(status) || this.tolerated.includes(status)
    if (isTolerated) this.failures++
    else this.#options.history.findings.add('other', `${what} was answered ${status}: ${body}`)
    return isTolerated
  }

  async #read(): Promise<void> {
    const { url, token, random, history, isSteady } = this.#options
    using connection = new Connection(url, token)
    try {
      while (!this.#isStopped) await (random(2) === 0 ? this.#readLog(connection) : this.#readThing(connection))
    } catch (error) {
      // A connection that dies ends the reader as it ends the writers.
      if (!(error instanceof ConnectionLost)) throw error
      if (isSteady) history.findings.add('other', `a read was not answered: ${error.message}`)
    }
  }

  async #readLog(connection: Connection): Promise<void> {
    const { history, random } = this.#options
    const { leastCount } = history.log
    const last = lastPage(leastCount)
    const answer = await this.#get(connection, `/${LOG}?page=${random(2) === 0 ? last : 1 + random(last)}`, [200])
    if (answer === undefined) return
    const page = readPage(answer.body, history.findings)
    history.log.readPage(page.number, page.itemCount, page.texts, leastCount)
  }

  async #readThing(connection: Connection): Promise<void> {
    const { history, random } = this.#options
    const key = history.things.anyId(random)
    if (key === undefined) return this.#readLog(connection)
    const beganAt = history.tick()
    const answer = await this.#get(connection, `/${THINGS}/${key}`, [200, 404])
    if (answer === undefined) return
    history.things.readItem(key, answer.status === 200 ? answer.body.trim() : null, beganAt, history.tick())
  }

  /** Undefined for an answer that is none of the good ones. */
  async #get(connection: Connection, path: string, good: readonly number[]): Promise<Answer | undefined> {
    const toleratedBefore = this.tolerated
    const startedAt = performance.now()
    const answer = await connection.get(path)
    this.longestMs = Math.max(this.longestMs, performance.now() - startedAt)
    this.reads++
    if (good.includes(answer.status)) return answer
    const { isSteady, history } = this.#options
    if (!isSteady) history.findings.add('other', `GET ${path} was answered ${answer.status}: ${answer.body}`)
    else if (this.#tolerate(answer, toleratedBefore, `GET ${path}`)) await sleep(RETRY_MS)
    return undefined
  }

  #wallClock(): number {
    return this.#msAtOrigin + performance.now()
  }
}

/** Undefined when the connection died. */
export async function sendWrite(connection: Connection, write: Write): Promise<Answer | undefined> {
  try {
    const headers = write.request.isKeyless ? {} : { 'Idempotency-Key': write.id }
    return await connection.ask({ ...write.request, headers })
  } catch (error) {
    if (error instanceof ConnectionLost) return undefined
    throw error
  }
}

/** Undefined where the answer is not that of an append. */
export function itemCountOf({ method }: WriteRequest, { body }: Answer): number | undefined {
  return method === 'POST' ? JSON.parse(body).item_count : undefined
}

/** The wall clock at the origin of `performance.now()`, finer than its own milliseconds: taken when one begins. */
function wallClockAtOrigin(): number {
  const before = Date.now()
  while (Date.now() === before);
  return Date.now() - performance.now()
}
