/** What the command line asks of `npm run test:fuzz`. */

import { parseArgs } from 'node:util'
import { newSeed, WrongUse, wholeNumber } from '../faults/options.ts'
import { CASE_KINDS } from './case-runner.ts'
import type { RepeatOptions } from './fuzz.ts'

export const USAGE = `Usage: npm run test:fuzz -- [options]

  --minutes N     how long it lasts (2); can be a fraction
  --cases N       so many cases, instead of a time
  --seed N        the cases of an earlier run
  --case N        this case alone, with all that is sent and answered; can be given again
  --times N       so many times each of these cases (1): moments are as random as ever
  --without KIND  no cases of this kind; can be given again
                  (${CASE_KINDS.join(', ')})`

/** Throws a WrongUse that says what is wrong. */
export function parseOptions(words: readonly string[]): RepeatOptions {
  const { minutes = '2', cases, seed, case: only = [], times = '1', without = [] } = parseWords(words)
  if (!/^\d+(\.\d+)?$/.test(minutes)) throw new WrongUse(`--minutes is "${minutes}"; give a number.`)
  const unknown = without.find((kind) => !CASE_KINDS.includes(kind))
  if (unknown !== undefined) throw new WrongUse(`There is no kind "${unknown}". Choose of: ${CASE_KINDS.join(', ')}.`)
  return {
    seed: seed === undefined ? newSeed() : wholeNumber('seed', seed),
    ...(cases === undefined ? { ms: Number(minutes) * 60_000 } : { cases: wholeNumber('cases', cases) }),
    only: only.map((number) => wholeNumber('case', number)),
    times: wholeNumber('times', times),
    without,
  }
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        minutes: { type: 'string' },
        cases: { type: 'string' },
        seed: { type: 'string' },
        case: { type: 'string', multiple: true },
        times: { type: 'string' },
        without: { type: 'string', multiple: true },
      },
    }).values
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
