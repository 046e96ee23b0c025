/** Transactions that are tried again where that is certain to do them once. */

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../../store-error.ts'
import type { Rows } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'
import { canTryAgain, OutcomeUnknown, TryAgain } from '../server/explain-error.ts'
import { sweepName } from './sweep.ts'

const MAX_DETOURS = 100
const PAUSE_MS = 50

/** For finding out what became of a commit that was not answered. */
const FIND_OUT_MS = 10_000

export async function tryTransaction<T>(
  connections: Connections,
  name: string,
  work: (rows: Rows) => Promise<T>,
): Promise<T> {
  for (let tries = 1, detours = 1; ; ) {
    try {
      return await connections.lend(work)
    } catch (error) {
      if (error instanceof TryAgain && detours++ < MAX_DETOURS) {
        if (error.needsSweep) await sweepName(connections, name)
      } else if (tries++ < connections.mostTries && canTryAgain(error)) await sleep(PAUSE_MS * Math.random())
      else throw error
    }
  }
}

/**
 * Repeats work whose outcome is in the log of requests, until it is known. Whoever is still committing it holds the
 * head, so nobody can look into the log too early.
 */
export async function untilKnown<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + FIND_OUT_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof StoreError && error.code !== 'overloaded') throw error
      if (performance.now() > deadline) throw new OutcomeUnknown('Nobody could be asked.', { cause: error })
      await sleep(PAUSE_MS)
    }
  }
}
