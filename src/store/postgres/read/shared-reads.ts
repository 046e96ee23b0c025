/**
 * Reads of one statement each: those that come in the same turn of the event loop go to the server together, on one
 * connection. Where one comes at a time, each has a connection of its own.
 */

import { stateOf } from '../../../postgres/postgres-error.ts'
import { TOKEN } from '../../tables.ts'
import type { Reading, Row, Statement } from '../rows/sender.ts'
import { TableStatements } from '../rows/table-statements.ts'
import type { Connections } from '../server/connection.ts'
import { isRefused, TOOK_TOO_LONG } from '../server/explain-error.ts'

const TOKEN_BY_HASH = TableStatements.of(TOKEN).get

/** On one connection, at most: the last one waits for all before it. */
const MAX_TOGETHER = 8

interface Ask {
  readonly statement: Statement
  readonly values: readonly unknown[]
  resolve(rows: readonly Row[]): void
  reject(error: unknown): void
}

export class SharedReads implements Reading {
  readonly #connections: Connections
  #waiting: Ask[] = []
  /** Those among them that requests of one turn often have in common, such as the writes of one client to one collection. */
  readonly #common = new Map<string, Promise<readonly Row[]>>()

  constructor(connections: Connections) {
    this.#connections = connections
  }

  all(statement: Statement, ...values: readonly unknown[]): Promise<readonly Row[]> {
    if (statement !== 'readHead' && statement !== TOKEN_BY_HASH) return this.#add(statement, values)
    const key = values.join(' ')
    const asked = this.#common.get(key) ?? this.#add(statement, values)
    this.#common.set(key, asked)
    return asked
  }

  #add(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#send())
      this.#waiting.push({ statement, values, resolve, reject })
    })
  }

  async first(statement: Statement, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.all(statement, ...values))[0]
  }

  #send(): void {
    const asks = this.#waiting
    this.#waiting = []
    this.#common.clear()
    for (let start = 0; start < asks.length; start += MAX_TOGETHER)
      void this.#ask(asks.slice(start, start + MAX_TOGETHER))
  }

  async #ask(asks: readonly Ask[]): Promise<void> {
    let answered = 0
    const onFound = (rows: readonly Row[]) => asks[answered++]?.resolve(rows)
    try {
      await this.#connections.retry((rows) => rows.together(asks.slice(answered), onFound))
    } catch (error) {
      // What the server refuses, or what cannot be read, is the next one to be answered: the others are none the worse.
      // Where one takes too long, the others would too, one after the other.
      const isOfOne = (isRefused(error) && stateOf(error) !== TOOK_TOO_LONG) || error instanceof RangeError
      const failed = isOfOne ? answered + 1 : asks.length
      for (const { reject } of asks.slice(answered, failed)) reject(error)
      if (failed < asks.length) await this.#ask(asks.slice(failed))
    }
  }
}

export class SharedRun<T> {
  readonly #work: () => Promise<T>
  #running: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(work: () => Promise<T>) {
    this.#work = work
  }

  /** What it answers was found after this call, so that everybody sees what they have written before. */
  ask(): Promise<T> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#run()
    const ended = this.#running.then(
      () => {},
      () => {},
    )
    this.#next = ended.then(() => this.#run())
    return this.#next
  }

  #run(): Promise<T> {
    this.#next = undefined
    const running = this.#work().finally(() => {
      this.#running = undefined
    })
    this.#running = running
    return running
  }
}
