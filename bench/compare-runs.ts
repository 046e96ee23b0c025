/** Two runs beside each other, figure by figure: what got better, and what got worse. */

import { alignTable } from '../src/cli/output.ts'
import { directionOf } from './question.ts'
import type { RecordedFigure, RecordedRun } from './recorded-run.ts'
import { withUnit } from './report.ts'

/** Of two full runs of the same code the ratios differ by up to 5 %: three times that is no chance. */
export const TOLERANCE = 0.15

export type Verdict = 'better' | 'same' | 'worse' | 'not judged' | 'new' | 'gone'

export interface Comparison {
  readonly question: string
  readonly measured: string
  readonly before: RecordedFigure | undefined
  readonly now: RecordedFigure | undefined
  readonly verdict: Verdict
}

/** All figures of the questions that were asked now. Throws where the runs have different numbers of items. */
export function compareRuns(before: RecordedRun, now: RecordedRun): Comparison[] {
  if (before.items !== now.items)
    throw new Error(`The runs have ${before.items} and ${now.items} items: only runs with as many can be compared.`)
  const asked = new Set(now.answers.filter(({ skipped }) => skipped === undefined).map(({ question }) => question))
  const [figuresBefore, figuresNow] = [figuresOf(before), figuresOf(now)]
  const names = new Set([...figuresNow.keys(), ...figuresBefore.keys()])
  return [...names].flatMap((name) => {
    const [question = '', measured = ''] = name.split('\n')
    const [then, figure] = [figuresBefore.get(name), figuresNow.get(name)]
    return asked.has(question) ? [{ question, measured, before: then, now: figure, verdict: judge(then, figure) }] : []
  })
}

function figuresOf({ answers }: RecordedRun): Map<string, RecordedFigure> {
  return new Map(
    answers.flatMap(({ question, figures }) => figures.map((figure) => [`${question}\n${figure.measured}`, figure])),
  )
}

function judge(before: RecordedFigure | undefined, now: RecordedFigure | undefined): Verdict {
  if (now === undefined) return 'gone'
  if (before === undefined) return 'new'
  const direction = directionOf(now)
  // A figure with a unit is one of the machine too; both sides of a ratio had the same one.
  if (now.unit !== undefined || direction === undefined) return 'not judged'
  const growth = now.value / before.value
  const gain = direction === 'higher' ? growth : 1 / growth
  if (gain < 1 / (1 + TOLERANCE)) return 'worse'
  return gain > 1 + TOLERANCE ? 'better' : 'same'
}

/** The worst first; those that are the same only if `isAll`. */
export function comparisonTable(comparisons: readonly Comparison[], isAll: boolean): string {
  const order: readonly Verdict[] = ['worse', 'better', 'same', 'not judged', 'new', 'gone']
  const shown = isAll ? order : order.slice(0, 2)
  const rows = shown.flatMap((verdict) => comparisons.filter((each) => each.verdict === verdict).map(rowOf))
  return rows.length === 0 ? '' : alignTable([['', 'question', 'what was measured', 'before', 'now'], ...rows], [3, 4])
}

function rowOf({ question, measured, before, now, verdict }: Comparison): string[] {
  return [verdict, question, measured, shownValue(before), shownValue(now)]
}

function shownValue(figure: RecordedFigure | undefined): string {
  return figure === undefined ? '–' : withUnit(figure.value, figure.unit)
}

/** One sentence about all of them. */
export function summaryOf(comparisons: readonly Comparison[], { date }: RecordedRun): string {
  const count = (verdict: Verdict) => comparisons.filter((each) => each.verdict === verdict).length
  const percent = `${TOLERANCE * 100} %`
  return `Beside the run of ${date.slice(0, 10)}, with a tolerance of ${percent}: ${count('worse')} worse, ${count('better')} better, ${count('same')} the same.`
}
