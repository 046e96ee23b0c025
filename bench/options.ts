/** The command line of the bench. */

import { parseArgs } from 'node:util'
import type { Question } from './question.ts'

export const USAGE = `Usage: node bench/run.ts [QUESTION…] [options]

  --short          200,000 items, in a few minutes
  --items N        that many items, at least 500 (10,000,000)
  --requests N     that many requests of each kind count (2,000)
  --rounds N       that often each side of a long comparison runs (3)
  --output FILE    keep the figures in this file; otherwise a run of all questions
                   with one of the two usual numbers of items is kept in bench/results/

The questions pg-… start a PostgreSQL of their own, or use the one that REAMS_BENCH_POSTGRES names.
The questions citus-… compare it with the Citus that REAMS_BENCH_CITUS names.
`

/** The run that the documentation shows. */
export const FULL_RUN = 'bench/results/full.json'
const SHORT_ITEMS = 200_000
/** What the requirements are for. */
export const FULL_ITEMS = 10_000_000
/** One page. */
const FEWEST_ITEMS = 500

export interface BenchOptions {
  readonly questions: readonly Question[]
  readonly items: number
  readonly requests: number
  readonly rounds: number
  /** Where the figures are kept; undefined: nowhere. */
  readonly output: string | undefined
  readonly isHelpWanted: boolean
}

/** Throws a WrongUse that says what is wrong. */
export function parseOptions(words: readonly string[], all: readonly Question[]): BenchOptions {
  const { values, positionals } = parseWords(words)
  const items = wholeNumber('items', values.items, values.short ? SHORT_ITEMS : FULL_ITEMS, FEWEST_ITEMS)
  return {
    questions: positionals.length === 0 ? all : chosen(positionals, all),
    items,
    requests: wholeNumber('requests', values.requests, 2_000, 1),
    rounds: wholeNumber('rounds', values.rounds, 3, 1),
    output: values.output ?? (words.every((word) => word === '--short') ? recordedFile(items) : undefined),
    isHelpWanted: values.help,
  }
}

export class WrongUse extends Error {
  override readonly name = 'WrongUse'
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        short: { type: 'boolean', default: false },
        items: { type: 'string' },
        requests: { type: 'string' },
        rounds: { type: 'string' },
        output: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function wholeNumber(name: string, text: string | undefined, usual: number, least: number): number {
  if (text === undefined) return usual
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least)) throw new WrongUse(`--${name} is "${text}"; give a whole number of at least ${least}.`)
  return number
}

function chosen(names: readonly string[], all: readonly Question[]): Question[] {
  const unknown = names.find((name) => !all.some((question) => question.name === name))
  if (unknown !== undefined)
    throw new WrongUse(`There is no question "${unknown}". Choose of: ${all.map(({ name }) => name).join(', ')}.`)
  return all.filter(({ name }) => names.includes(name))
}

/** Where the last run with so many items is kept: those with one of the two usual numbers are. */
export function recordedFile(items: number): string | undefined {
  if (items === SHORT_ITEMS) return 'bench/results/short.json'
  return items === FULL_ITEMS ? FULL_RUN : undefined
}
