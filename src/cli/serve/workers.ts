/** Several processes that serve on one port. One that dies is replaced while the others go on. */

import cluster, { type Address, type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { printError } from '../output.ts'
import type { StoreLocation } from '../store-location.ts'
import { CLOSE_GRACE_MS, type RunningServer } from './server.ts'
import { STOP, STORE_VARIABLE } from './worker.ts'

/** A worker that lived for so long is replaced at once; before one that died sooner there is a pause. */
const SOUND_MS = 10_000
const FIRST_PAUSE_MS = 100
const MOST_PAUSE_MS = 5_000
/** Beyond the time in which a worker ends by itself. */
const KILL_AFTER_MS = CLOSE_GRACE_MS + 2_000

/** A worker that never came to serve; it has said why. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded'
  readonly exitStatus: number

  constructor(exitStatus: number) {
    super(`status ${exitStatus} before it listened`)
    this.exitStatus = exitStatus
  }
}

/** Resolves when all serve; rejects with a WorkerEnded. */
export async function startWorkers(count: number, location: StoreLocation): Promise<RunningServer> {
  const group = new WorkerGroup(location)
  try {
    // What is wrong for one is wrong for all: the first one tells.
    const { port } = await group.start()
    await Promise.all(Array.from({ length: count - 1 }, () => group.start()))
    return { port, [Symbol.asyncDispose]: () => group.stop() }
  } catch (error) {
    await group.stop()
    throw error
  }
}

class WorkerGroup {
  readonly #location: StoreLocation
  readonly #workers = new Set<Worker>()
  readonly #listening = new WeakSet<Worker>()
  #pauseMs = FIRST_PAUSE_MS
  #isStopping = false

  constructor(location: StoreLocation) {
    this.#location = location
  }

  /** Resolves when the worker listens; rejects when it ends before, having said why. */
  async start(): Promise<Address> {
    const worker = cluster.fork({ [STORE_VARIABLE]: this.#location.reveal() })
    const startedAt = performance.now()
    this.#workers.add(worker)
    const ended = once(worker, 'exit').then(([status, signal]: unknown[]) => {
      this.#workers.delete(worker)
      return { status: typeof status === 'number' ? status : 3, cause: signal ?? `status ${status}` }
    })
    const listening = once(worker, 'listening').then(([address]) => ({ address: address as Address }))
    const first = await Promise.race([ended, listening])
    if ('status' in first) throw new WorkerEnded(first.status)
    this.#listening.add(worker)
    void ended.then(({ cause }) => this.#replace(cause, performance.now() - startedAt))
    return first.address
  }

  async #replace(cause: unknown, livedMs: number): Promise<void> {
    if (this.#isStopping) return
    printError(`reams: A worker has ended (${cause}). Another one takes its place.`)
    this.#pauseMs = livedMs > SOUND_MS ? FIRST_PAUSE_MS : Math.min(this.#pauseMs * 2, MOST_PAUSE_MS)
    await sleep(this.#pauseMs, undefined, { ref: false })
    if (this.#isStopping) return
    await this.start().catch((error: unknown) => this.#replace(error instanceof Error ? error.message : error, 0))
  }

  /** Each ends what it has begun. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const workers = [...this.#workers]
    const cutOff = setTimeout(() => {
      for (const worker of workers) worker.process.kill('SIGKILL')
    }, KILL_AFTER_MS)
    await Promise.all(
      workers.map(async (worker) => {
        if (worker.isDead()) return
        const ended = once(worker, 'exit')
        if (this.#listening.has(worker) && worker.isConnected()) worker.send(STOP, () => {})
        else worker.process.kill('SIGKILL')
        await ended
      }),
    )
    clearTimeout(cutOff)
  }
}
