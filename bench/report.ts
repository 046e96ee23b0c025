/** The figures of a run, as a table and as JSON. */

import { cpus, loadavg, totalmem } from 'node:os'
import { alignTable } from '../src/cli/table.ts'
import { type Figure, isReached, type Requirement } from './question.ts'

export interface Answer {
  readonly question: string
  readonly figures: readonly Figure[]
  readonly durationMs: number
}

export interface Run {
  readonly command: string
  readonly startedAt: Date
  readonly items: number
  readonly requests: number
  readonly rounds: number
  readonly answers: readonly Answer[]
}

export function tableOf(answers: readonly Answer[]): string {
  const rows = answers.flatMap(({ question, figures }) =>
    figures.map(({ measured, value, unit, required }, index) => [
      index === 0 ? question : '',
      measured,
      withUnit(value, unit),
      required === undefined ? 'report' : withUnit(required, unit),
      required === undefined ? '' : isReached(value, required) ? 'reached' : 'NOT REACHED',
    ]),
  )
  return alignTable([['question', 'what was measured', 'figure', 'required', ''], ...rows], [2, 3])
}

function withUnit(value: number | Requirement, unit: string | undefined): string {
  if (typeof value !== 'number')
    return 'atMost' in value ? `≤ ${withUnit(value.atMost, unit)}` : `≥ ${withUnit(value.atLeast, unit)}`
  const digits = value.toFixed(value < 100 ? 2 : 0)
  return unit === undefined ? digits : `${value.toFixed(0)} ${unit}`
}

export function jsonOf(run: Run): string {
  const { command, startedAt, items, requests, rounds, answers } = run
  const report = {
    command,
    date: startedAt.toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    // Well above 1 for the bench itself means that the machine had other things to do.
    loadAverage5Minutes: loadavg()[1],
    items,
    requests,
    rounds,
    seconds: answers.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000,
    answers: answers.map(({ question, durationMs, figures }) => ({
      question,
      seconds: durationMs / 1000,
      figures: figures.map((figure) => ({
        ...figure,
        isReached: figure.required === undefined ? null : isReached(figure.value, figure.required),
      })),
    })),
  }
  return `${JSON.stringify(report, roundNumber, 2)}\n`
}

/** Five significant digits say all that a measurement can. */
function roundNumber(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value
}
