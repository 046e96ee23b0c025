/** Reads what strace wrote down: `strace -f -y -ttt -o FILE`. */

import { existsSync, readFileSync } from 'node:fs'

export interface SystemCall {
  readonly name: string
  /** The file that it was about. */
  readonly path: string
  /** Milliseconds since 1970. */
  readonly startedMs: number
  readonly result: number
  /** Whether strace made it fail. */
  readonly isInjected: boolean
}

const BEGINNING = /^(\d+) +([\d.]+) (\w+)\(\d+<([^>]*)>/
const RESUMPTION = /^(\d+) +[\d.]+ <\.\.\. \w+ resumed>/
const END = /\) += (-?\d+).*?(\(INJECTED\))?$/

/** Calls that have ended, in the order of their ends. */
export function readSystemCalls(file: string): SystemCall[] {
  const calls: SystemCall[] = []
  // Where threads get in each other's way a call is on two lines, and its thread has no other call between them.
  const begun = new Map<string, Pick<SystemCall, 'name' | 'path' | 'startedMs'>>()
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const [, thread = '', seconds, name = '', path = ''] = BEGINNING.exec(line) ?? RESUMPTION.exec(line) ?? []
    if (name !== '') begun.set(thread, { name, path, startedMs: Number(seconds) * 1000 })
    const [end, result, injected] = END.exec(line) ?? []
    const call = begun.get(thread)
    if (end !== undefined && call !== undefined)
      calls.push({ ...call, result: Number(result), isInjected: injected !== undefined })
  }
  return calls
}
