/** Clients that write and read at the same time, as long as they are let, and put all of it into the history. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../bench/random.ts'
import { lastPage } from '../../src/contract/page.ts'
import { type Answer, Connection, ConnectionLost } from './connection.ts'
import { type History, LOG, THINGS } from './history.ts'
import { NextWrite } from './next-write.ts'
import { readPage } from './walk.ts'
import type { Write, WriteRequest } from './write.ts'

/** What a write gets that found the disk full: nothing of it was kept. */
const FULL = 507

/** Between two tries of a write that the server could not do. */
const RETRY_MS = 20

/** The limits of a random moment. */
const MOST_WRITES = 80
const MOST_EXTRA_MS = 30
const MOST_MS = 5_000

export interface WorkloadOptions {
  readonly url: string
  readonly token: string
  readonly history: History
  readonly random: Random
  /** Connections that write. Default 4. */
  readonly writers?: number
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
  /** How many writes were answered with one of them. */
  failures = 0
  readonly acknowledgements: Acknowledgement[] = []
  readonly #msAtOrigin = wallClockAtOrigin()

  /** Begins at once. */
  constructor(options: WorkloadOptions) {
    this.#options = options
    const { writers = 4 } = options
    const clients = Array.from({ length: writers }, (_, index) => this.#write(`c${index}`))
    this.#running = Promise.all([...clients, this.#read()])
  }

  /** A moment within the work, as random as the machine is: after so many acknowledgements, and some milliseconds. */
  async randomMoment(): Promise<void> {
    const { random } = this.#options
    const startedAt = performance.now()
    const count = random(MOST_WRITES)
    while (this.acknowledgements.length < count && performance.now() - startedAt < MOST_MS) await sleep(5)
    await sleep(random(MOST_EXTRA_MS))
  }

  /** Lets what is under way come to its end. A write that the server cannot do is not tried again. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #write(client: string): Promise<void> {
    const { url, token, history, random } = this.#options
    using connection = new Connection(url, token)
    const nextWrite = new NextWrite(client, history, random)
    while (!this.#isStopped) {
      const { write, whenDone } = nextWrite.begin()
      await this.#send(connection, write)
      if (write.fate === 'acknowledged') whenDone()
      if (write.fate === 'unknown') return
    }
  }

  /** Sends a write until its fate is known, or the connection dies. */
  async #send(connection: Connection, write: Write): Promise<void> {
    const { history } = this.#options
    for (;;) {
      const toleratedBefore = this.tolerated
      const sentMs = this.#wallClock()
      const answer = await sendWrite(connection, write)
      const tolerated = [...toleratedBefore, ...this.tolerated]
      if (answer === undefined) return history.loseSight(write)
      if (answer.status < 300) {
        this.acknowledgements.push({ id: write.id, sentMs, answeredMs: this.#wallClock() })
        return history.acknowledge(write, itemCountOf(write.request, answer))
      }
      if (tolerated.includes(answer.status)) this.failures++
      else history.findings.add('other', `${write.id} was answered ${answer.status}: ${answer.body}`)
      if (answer.status < 500 || answer.status === FULL) return history.refuse(write)
      if (this.#isStopped) return history.loseSight(write)
      await sleep(RETRY_MS)
    }
  }

  async #read(): Promise<void> {
    const { url, token, random } = this.#options
    using connection = new Connection(url, token)
    try {
      while (!this.#isStopped) await (random(2) === 0 ? this.#readLog(connection) : this.#readThing(connection))
    } catch (error) {
      // A connection that dies ends the reader as it ends the writers.
      if (!(error instanceof ConnectionLost)) throw error
    }
  }

  async #readLog(connection: Connection): Promise<void> {
    const { history, random } = this.#options
    const { leastCount } = history.log
    const last = lastPage(leastCount)
    const answer = await connection.get(`/${LOG}?page=${random(2) === 0 ? last : 1 + random(last)}`)
    if (!this.#isGood(answer, [200], `/${LOG}`)) return
    const page = readPage(answer, LOG, history.findings)
    history.log.readPage(page.number, page.itemCount, page.texts, leastCount)
  }

  async #readThing(connection: Connection): Promise<void> {
    const { history, random } = this.#options
    const key = history.things.anyKey(random)
    if (key === undefined) return this.#readLog(connection)
    const beganAt = history.tick()
    const answer = await connection.get(`/${THINGS}/${key}`)
    if (!this.#isGood(answer, [200, 404], `/${THINGS}/${key}`)) return
    history.things.readItem(key, answer.status === 200 ? answer.body.trim() : null, beganAt, history.tick())
  }

  #isGood({ status, body }: Answer, statuses: readonly number[], path: string): boolean {
    if (statuses.includes(status)) return true
    this.#options.history.findings.add('other', `GET ${path} was answered ${status}: ${body}`)
    return false
  }

  #wallClock(): number {
    return this.#msAtOrigin + performance.now()
  }
}

/** Undefined when the connection died. */
export async function sendWrite(connection: Connection, write: Write): Promise<Answer | undefined> {
  try {
    return await connection.ask({ ...write.request, headers: { 'Idempotency-Key': write.id } })
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
