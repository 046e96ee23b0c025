/** One run of `reams import`: how long it took and how much memory. */

import type { FinishedProgram } from './child-process.ts'
import type { Memory } from './memory.ts'

export interface ImportRun {
  readonly path: string
  /** The whole process, from its start to its end. */
  readonly wallMs: number
  /** From opening the store to closing it, as the program itself tells. */
  readonly insideMs: number
  readonly memory: readonly Memory[]
}

export function importRun(path: string, items: number, { wallMs, stdout, memory }: FinishedProgram): ImportRun {
  return { path, wallMs, insideMs: insideMs(stdout, items), memory }
}

/** The summary gives milliseconds below a second; above, the rate is more exact than the duration. */
function insideMs(summary: string, items: number): number {
  const milliseconds = /imported in (\d+) ms/.exec(summary)?.[1]
  if (milliseconds !== undefined) return Number(milliseconds)
  const rate = /\(([\d,]+) items\/s\)/.exec(summary)?.[1]?.replaceAll(',', '')
  if (rate === undefined) throw new Error(`The summary of the import has no duration that can be read: ${summary}`)
  return (items / Number(rate)) * 1000
}
