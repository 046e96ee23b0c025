/** The questions as a table: what each asks, and how long it took in a run. */

import { readFileSync } from 'node:fs'
import { table } from '../../scripts/page.ts'
import { formatDuration } from '../../src/cli/output.ts'
import { QUESTIONS } from '../questions/index.ts'
import type { RecordedRun } from '../recorded-run.ts'

export function questionTable({ answers }: RecordedRun): string {
  const rows = QUESTIONS.map(({ name }) => {
    const answer = answers.find(({ question }) => question === name)
    return [`\`${name}\``, sentenceOf(name), answer === undefined ? '' : formatDuration(answer.seconds * 1000)]
  })
  return table(['question', '', 'took'], rows)
}

/** The sentence that its file begins with. */
function sentenceOf(question: string): string {
  const source = readFileSync(new URL(`../questions/${question}.ts`, import.meta.url), 'utf8')
  return /^\/\*\* (.*) \*\/\n/.exec(source)?.[1] ?? ''
}
