/** Keeps the threads of a closed store for a moment, for the next store: a program that opens stores in turn starts each thread once. */

import type { Worker } from 'node:worker_threads'
import { startThread } from '../program-files/program-files.ts'

/** These threads do many small things: little memory for short-lived objects is enough. */
const YOUNG_GENERATION_MB = 4

export const KEPT_MS = 1_000

/** The waiting threads, each with the module that it runs and the function that takes it out of this map. */
const kept = new Map<Worker, { readonly path: string; readonly take: () => Worker }>()

/** A thread that runs the module at `path`, as `startThread` takes it. */
export function takeThread(path: string): Worker {
  const waiting = kept.values().find((each) => each.path === path)
  if (waiting !== undefined) return waiting.take()
  return startThread(path, {
    // Flags that the program was started with, such as --input-type, may not fit a thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
}

/** Keeps a thread that waits for its next owner. It does not keep the process alive. */
export function keepThread(path: string, worker: Worker): void {
  const ignore = (): void => {}
  const take = (): Worker => {
    kept.delete(worker)
    clearTimeout(timer)
    return worker.off('error', ignore).off('exit', take)
  }
  const timer = setTimeout(() => void take().terminate(), KEPT_MS).unref()
  worker.once('error', ignore).once('exit', take).unref()
  kept.set(worker, { path, take })
}
