/** What the command line asks of `npm run test:faults`. */

import { parseArgs } from 'node:util'
import type { Fault } from './fault.ts'
import { FAULTS } from './faults/index.ts'

const NAMES = FAULTS.map(({ name }) => name).join(', ')

export const USAGE = `Usage: npm run test:faults -- [options]

  --fault NAME   this fault alone; can be given again (${NAMES})
  --rounds N     so many rounds of each, instead of the usual numbers
  --seed N       the random choices of an earlier run; moments are as random as ever`

export interface FaultOptions {
  readonly faults: readonly Fault[]
  /** Undefined: as many as each fault has by itself. */
  readonly rounds: number | undefined
  readonly seed: number
}

export class WrongUse extends Error {
  override readonly name = 'WrongUse'
}

/** Throws a WrongUse that says what is wrong. */
export function parseOptions(words: readonly string[]): FaultOptions {
  const { fault: names, rounds, seed } = parseWords(words)
  const unknown = names?.find((name) => !FAULTS.some((fault) => fault.name === name))
  if (unknown !== undefined) throw new WrongUse(`There is no fault "${unknown}". Choose of: ${NAMES}.`)
  return {
    faults: FAULTS.filter(({ name }) => names?.includes(name) ?? true),
    rounds: rounds === undefined ? undefined : wholeNumber('rounds', rounds),
    seed: seed === undefined ? newSeed() : wholeNumber('seed', seed),
  }
}

export function newSeed(): number {
  return 1 + Math.floor(Math.random() * 1e9)
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        fault: { type: 'string', multiple: true },
        rounds: { type: 'string' },
        seed: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

export function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new WrongUse(`--${name} is "${text}"; give a whole number of at least 1.`)
  return Number(text)
}
