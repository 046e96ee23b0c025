/** `npm run bench:compare -- FILE [BEFORE]`: what got slower since a run was recorded. Exit status 1 if something did. */

import { compareRuns, comparisonTable, summaryOf } from './compare-runs.ts'
import { recordedFile } from './options.ts'
import { readRun } from './recorded-run.ts'

const USAGE = `Usage: npm run bench:compare -- FILE [BEFORE]

Compares the run in FILE, which "node bench/run.ts --output FILE" wrote, with the one in BEFORE, or with the recorded run
of as many items in bench/results/. Exit status 1 if a ratio got worse.`

/** Throws a sentence where there is nothing to compare. */
export function compareFiles([file, beforeFile, ...others]: readonly string[]): { status: number; text: string } {
  if (file === undefined || file.startsWith('-') || others.length > 0) throw new Error(USAGE)
  const now = readRun(file)
  const recorded = beforeFile ?? recordedFile(now.items)
  if (recorded === undefined)
    throw new Error(`There is no recorded run of ${now.items} items: name a file to compare with.`)
  const before = readRun(recorded)
  const comparisons = compareRuns(before, now)
  return {
    status: comparisons.some(({ verdict }) => verdict === 'worse') ? 1 : 0,
    text: `${comparisonTable(comparisons, true)}\n\n${summaryOf(comparisons, before)}`,
  }
}

if (import.meta.main)
  try {
    const { status, text } = compareFiles(process.argv.slice(2))
    console.log(text)
    process.exitCode = status
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  }
