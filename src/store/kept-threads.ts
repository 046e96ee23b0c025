/** Threads whose owner has ended wait a moment for the next one: a program that opens stores in turn starts each thread once. */

import type { Worker } from 'node:worker_threads'
import { startThread } from '../program-files/program-files.ts'

/** A thread that does one small thing after the other needs little memory for what it has just thrown away. */
const YOUNG_GENERATION_MB = 4

const KEPT_MS = 1_000

interface Kept {
  readonly path: string
  readonly worker: Worker
  readonly timer: NodeJS.Timeout
}

const kept = new Set<Kept>()

/** A thread that runs the module at `path`, as `startThread` takes it. */
export function takeThread(path: string): Worker {
  const waiting = [...kept].find((each) => each.path === path)
  if (waiting !== undefined) return take(waiting)
  return startThread(path, {
    // Flags that the program was started with, such as --input-type, may not fit a thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
}

/** Keeps a thread that waits for its next owner. It does not keep the process alive. */
export function keepThread(path: string, worker: Worker): void {
  // Without a name, Node would lose listeners of its own.
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event)
  worker.unref()
  const waiting = { path, worker, timer: setTimeout(() => void take(waiting).terminate(), KEPT_MS).unref() }
  kept.add(waiting)
  worker.once('error', () => take(waiting))
}

function take(waiting: Kept): Worker {
  kept.delete(waiting)
  clearTimeout(waiting.timer)
  return waiting.worker.removeAllListeners('error')
}
