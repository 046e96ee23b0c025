/** Whether the store can be read, known within two seconds, and asked once for all who ask. */

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../../store-error.ts'
import type { Rows } from '../rows/rows.ts'
import { Connections, TOO_MANY_CONNECTIONS } from './connection.ts'
import { stateOf } from './explain-error.ts'
import type { StoreUrl } from './store-url.ts'

const LONGEST_MS = 2_000

export class HealthProbe {
  /** One of its own, which never waits for slow reads. */
  readonly #connections: Connections
  /** For when the server has no connection left: then reads are still answered on those that they have. */
  readonly #reads: Connections
  readonly #label: string
  readonly #ask: (rows: Rows) => Promise<unknown>
  #asking: Promise<unknown> | undefined

  /** `ask` asks for something that only the store has. */
  constructor(url: StoreUrl, reads: Connections, ask: (rows: Rows) => Promise<unknown>) {
    this.#label = url.label
    this.#ask = ask
    this.#reads = reads
    this.#connections = new Connections(url, {
      mostConnections: 1,
      connectMs: LONGEST_MS,
      statementMs: LONGEST_MS,
      fullServerMs: 0,
    })
  }

  /** Rejects when it cannot be read. */
  async check(): Promise<void> {
    const asking = this.#askOnce()
    const deadline = new AbortController()
    const late = sleep(LONGEST_MS, 'late', { signal: deadline.signal, ref: false })
    late.catch(() => {})
    try {
      if ((await Promise.race([asking, late])) === 'late')
        throw new StoreError(
          'unavailable',
          `The store ${this.#label} has not answered for ${LONGEST_MS / 1000} s. Check that the server is healthy.`,
        )
    } finally {
      deadline.abort()
    }
  }

  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Who comes meanwhile gets the same answer. */
  #askOnce(): Promise<unknown> {
    if (this.#asking === undefined) {
      const asking = this.#connections
        .retry(this.#ask)
        .catch((error: unknown) => {
          if (stateOf(error) !== TOO_MANY_CONNECTIONS) throw error
          return this.#reads.retry(this.#ask)
        })
        .finally(() => {
          this.#asking = undefined
        })
      asking.catch(() => {})
      this.#asking = asking
    }
    return this.#asking
  }
}
