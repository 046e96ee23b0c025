/** The figures of a run, as a table and as JSON. */

import { cpus, loadavg, totalmem } from 'node:os'
import { alignTable } from '../src/cli/output.ts'
import { type Figure, isReached, type Requirement, type Skipped } from './question.ts'

export interface Answer {
  readonly question: string
  readonly answer: readonly Figure[] | Skipped
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
  const rows = answers.flatMap(({ question, answer }) =>
    'skipped' in answer ? [[question, `skipped: ${answer.skipped}`, '', '', '']] : rowsOf(question, answer),
  )
  return alignTable([['question', 'what was measured', 'figure', 'required', ''], ...rows], [2, 3])
}

function rowsOf(question: string, figures: readonly Figure[]): string[][] {
  return figures.map(({ measured, value, unit, required }, index) => [
    index === 0 ? question : '',
    measured,
    withUnit(value, unit),
    required === undefined ? 'report' : withUnit(required, unit),
    required === undefined ? '' : isReached(value, required) ? 'reached' : 'NOT REACHED',
  ])
}

export function notesOf(answers: readonly Answer[]): string[] {
  return answers.flatMap(({ question, answer }) =>
    'skipped' in answer ? [] : answer.flatMap(({ note }) => (note === undefined ? [] : [`${question}: ${note}`])),
  )
}

/** As people read it. */
export function withUnit(value: number | Requirement, unit: string | undefined): string {
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
    answers: answers.map(({ question, durationMs, answer }) => ({
      question,
      seconds: durationMs / 1000,
      ...('skipped' in answer ? { ...answer, figures: [] } : { figures: answer.map(withVerdict) }),
    })),
  }
  return `${JSON.stringify(report, roundNumber, 2)}\n`
}

function withVerdict(figure: Figure): Figure & { isReached: boolean | null } {
  return { ...figure, isReached: figure.required === undefined ? null : isReached(figure.value, figure.required) }
}

/** Five significant digits say all that a measurement can. */
function roundNumber(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value
}
