/** `npm run test:faults`: does every fault to a store, prints what came of it, and fails if anything was lost or wrong. */

import { formatDuration } from '../../src/cli/figures.ts'
import { Interrupted, Interruption } from '../../src/cli/interruption.ts'
import { alignTable } from '../../src/cli/output.ts'
import type { Fault } from './fault.ts'
import { lackOf } from './needs.ts'
import { type FaultOptions, parseOptions, USAGE, WrongUse } from './options.ts'
import { COLUMNS, Report } from './report.ts'
import { runFault } from './run-fault.ts'

/** A line for whoever waits, no more often than so many rounds. */
const ROUNDS_A_LINE = 10

interface Outcome {
  readonly row: readonly string[]
  readonly isReached: boolean
  /** What is not in the table. */
  readonly remarks: readonly string[]
}

async function main(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  const options = parseOptions(words)
  using interruption = new Interruption()
  const outcomes: Outcome[] = []
  for (const fault of options.faults) {
    interruption.signal.throwIfAborted()
    const outcome = await tryFault(fault, options, interruption.signal)
    for (const remark of outcome.remarks) console.error(`${fault.name}: ${remark}`)
    console.error(outcome.row.join('  '))
    outcomes.push(outcome)
  }
  console.log(alignTable([[...COLUMNS, ''], ...outcomes.map(({ row }) => row)], [1, 2, 3, 4, 5, 6, 7]))
  return outcomes.every(({ isReached }) => isReached) ? 0 : 1
}

async function tryFault(fault: Fault, options: FaultOptions, signal: AbortSignal): Promise<Outcome> {
  const { name, description } = fault
  const { seed, rounds = fault.rounds } = options
  const lack = await lackOf(fault.needs)
  if (lack !== undefined)
    return {
      row: [name, `${seed}`, ...new Report().cells(), 'skipped'],
      isReached: true,
      remarks: [`skipped: ${lack}`],
    }

  console.error(`${name}: ${description}; ${rounds} rounds, seed ${seed}`)
  const startedAt = performance.now()
  const onRound = (round: number) => {
    if (round % ROUNDS_A_LINE === 0)
      console.error(`${name}: round ${round} of ${rounds} after ${formatDuration(performance.now() - startedAt)}`)
  }
  const report = await runFault(fault, { seed, rounds, onRound, signal }).catch((error: unknown) => {
    // An interrupted round fails in many ways; only one of them is the reason.
    signal.throwIfAborted()
    throw error
  })
  const isSlow = report.slowestRecoveryMs > (fault.mostRecoveryMs ?? Number.POSITIVE_INFINITY)
  const isReached = report.findings.total === 0 && !isSlow
  return {
    row: [name, `${seed}`, ...report.cells(), isReached ? 'reached' : 'NOT REACHED'],
    isReached,
    remarks: [
      ...report.notes,
      ...report.findings.messages,
      ...(isSlow ? [`ready again after more than ${formatDuration(fault.mostRecoveryMs ?? 0)}`] : []),
    ],
  }
}

function failed(error: unknown): number {
  if (error instanceof WrongUse) console.error(`${error.message}\n\n${USAGE}`)
  else if (error instanceof Interrupted) console.error(`The faults were ${error.message}; everything is removed.`)
  else console.error(error)
  if (error instanceof Interrupted) return error.exitStatus
  return error instanceof WrongUse ? 2 : 3
}

process.exitCode = await main(process.argv.slice(2)).catch(failed)
