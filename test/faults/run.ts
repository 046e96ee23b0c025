/** `npm run test:faults`: does every fault to a store, prints what came of it, and fails if anything was lost or wrong. */

import { alignTable, formatDuration } from '../../src/cli/output.ts'
import { newSeed, parseWords, runCommand, WrongUse, wholeNumber } from './command.ts'
import { type Fault, runFault } from './fault.ts'
import { FAULTS } from './faults/index.ts'
import { lackOf } from './needs.ts'
import { COLUMNS, Report } from './report.ts'

const NAMES = FAULTS.map(({ name }) => name).join(', ')

const USAGE = `Usage: npm run test:faults -- [options]

  --fault NAME   this fault alone; can be given again (${NAMES})
  --rounds N     so many rounds of each, instead of the usual numbers
  --seed N       the random choices of an earlier run; moments are as random as ever`

const OPTIONS = {
  fault: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  seed: { type: 'string' },
} as const

/** A line for whoever waits, no more often than so many rounds. */
const ROUNDS_A_LINE = 10

interface Outcome {
  readonly row: readonly string[]
  readonly isReached: boolean
  /** What is not in the table. */
  readonly remarks: readonly string[]
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const { fault: names, ...given } = parseWords(words, OPTIONS)
  const unknown = names?.find((name) => !FAULTS.some((fault) => fault.name === name))
  if (unknown !== undefined) throw new WrongUse(`There is no fault "${unknown}". Choose of: ${NAMES}.`)
  const rounds = given.rounds === undefined ? undefined : wholeNumber('rounds', given.rounds)
  const seed = given.seed === undefined ? newSeed() : wholeNumber('seed', given.seed)
  const outcomes: Outcome[] = []
  for (const fault of FAULTS.filter(({ name }) => names?.includes(name) ?? true)) {
    signal.throwIfAborted()
    const outcome = await tryFault(fault, rounds ?? fault.rounds, seed, signal)
    for (const remark of outcome.remarks) console.error(`${fault.name}: ${remark}`)
    console.error(outcome.row.join('  '))
    outcomes.push(outcome)
  }
  console.log(alignTable([[...COLUMNS, ''], ...outcomes.map(({ row }) => row)], [1, 2, 3, 4, 5, 6, 7]))
  return outcomes.every(({ isReached }) => isReached) ? 0 : 1
}

async function tryFault(fault: Fault, rounds: number, seed: number, signal: AbortSignal): Promise<Outcome> {
  const { name, description, mostRecoveryMs = Number.POSITIVE_INFINITY } = fault
  const rowOf = (report: Report, result: string) => [name, `${seed}`, ...report.cells(), result]
  const lack = await lackOf(fault.needs)
  if (lack !== undefined) return { row: rowOf(new Report(), 'skipped'), isReached: true, remarks: [`skipped: ${lack}`] }
  console.error(`${name}: ${description}; ${rounds} rounds, seed ${seed}`)
  const startedAt = performance.now()
  const onRound = (round: number) => {
    if (round % ROUNDS_A_LINE === 0)
      console.error(`${name}: round ${round} of ${rounds} after ${formatDuration(performance.now() - startedAt)}`)
  }
  const onFinding = (text: string) => console.error(`${name}: ${text}`)
  const report = await runFault(fault, { seed, rounds, onRound, onFinding, signal })
  const isSlow = report.slowestRecoveryMs > mostRecoveryMs
  const isReached = report.findings.total === 0 && !isSlow
  const slow = isSlow ? [`ready again after more than ${formatDuration(mostRecoveryMs)}`] : []
  return {
    row: rowOf(report, isReached ? 'reached' : 'NOT REACHED'),
    isReached,
    remarks: [...report.notes, ...slow],
  }
}

await runCommand(USAGE, main)
