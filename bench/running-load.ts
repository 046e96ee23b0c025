/** Many clients at once, seen from the bench: they begin, they ask, they tell how much. */

import { ended, LOAD, type Program, startProgram } from './child-process.ts'
import type { ReadOptions } from './read-requests.ts'
import type { RequestOptions } from './write-requests.ts'

export type LoadPlan = (RequestOptions | ReadOptions) & LoadSize

export interface LoadSize {
  /** Each sends its next request when the last one is answered. */
  readonly connections: number
  /** So many answers come before the clock starts. */
  readonly warmUp: number
  /** So many count. Undefined: all, until there are no more or the load is stopped. */
  readonly requests?: number
}

export interface LoadResult {
  readonly requests: number
  readonly durationMs: number
}

export interface RunningLoad<Result = LoadResult> {
  /** Resolves when the clock starts. */
  readonly begun: Promise<void>
  readonly result: Promise<Result>
  stop(): Promise<Result>
}

export function startLoad(plan: LoadPlan, signal: AbortSignal): RunningLoad {
  return startLoadProgram(LOAD, plan, signal)
}

/** A program that prints a line when the clock starts, and its result as another. */
export function startLoadProgram<Result = LoadResult>(
  program: Program,
  plan: object,
  signal: AbortSignal,
): RunningLoad<Result> {
  const child = startProgram(program, [JSON.stringify(plan)], signal)
  const begun = Promise.withResolvers<void>()
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (printed.includes('\n')) begun.resolve()
  })
  const result = ended(child).then((status) => {
    begun.resolve()
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`${program.join(' ')} ended with status ${status}.`)
    return JSON.parse(printed.split('\n')[1] ?? '') as Result
  })
  // Whoever waits for it is told; nobody may be waiting yet.
  result.catch(() => {})
  return {
    begun: begun.promise,
    result,
    stop: () => {
      child.kill('SIGTERM')
      return result
    },
  }
}

/** Answers before the clock starts: in the first round so many that the compiler of the server is done. */
export function warmUpOf(round: number, requests: number): number {
  return round === 0 ? 3 * requests : Math.ceil(requests / 4)
}

/** So many are sent in all: when the last one that counts is answered, the other connections still wait. */
export function sentBy({ connections, warmUp, requests = 0 }: LoadSize): number {
  return warmUp + requests + connections - 1
}

export async function runLoad(plan: LoadPlan, signal: AbortSignal): Promise<LoadResult> {
  return startLoad(plan, signal).result
}

export function requestsASecond({ requests, durationMs }: LoadResult): number {
  return requests / (durationMs / 1000)
}
