/** A run as its JSON keeps it. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Figure } from './question.ts'

export const ROOT = resolve(import.meta.dirname, '..')

export interface RecordedRun {
  readonly command: string
  readonly date: string
  readonly node: string
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
  readonly items: number
  readonly requests: number
  readonly rounds: number
  readonly seconds: number
  readonly answers: readonly RecordedAnswer[]
}

export interface RecordedAnswer {
  readonly question: string
  readonly seconds: number
  /** Why it was not asked. */
  readonly skipped?: string
  readonly figures: readonly RecordedFigure[]
}

export interface RecordedFigure extends Figure {
  /** Null where nothing is required. */
  readonly isReached: boolean | null
}

/** Throws a sentence about the file if it is not one of ours. */
export function readRun(path: string): RecordedRun {
  let run: Partial<RecordedRun> | null
  try {
    run = JSON.parse(readFileSync(resolve(ROOT, path), 'utf8'))
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
  if (!Array.isArray(run?.answers) || typeof run.items !== 'number')
    throw new Error(`${path} is not a run of the bench: give a file that "npm run bench" wrote.`)
  // The cast: what has answers and a number of items was written by `jsonOf`.
  return run as RecordedRun
}
