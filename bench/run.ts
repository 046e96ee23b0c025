/** `npm run bench`: asks the questions, prints their figures as a table and keeps them as JSON. */

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Interrupted, Interruption } from '../src/cli/interruption.ts'
import { formatDuration } from '../src/cli/output.ts'
import { counted } from '../src/contract/message-text.ts'
import { compareRuns, comparisonTable, summaryOf } from './compare-runs.ts'
import { estimateMs } from './estimate.ts'
import { type BenchOptions, FULL_ITEMS, parseOptions, recordedFile, USAGE, WrongUse } from './options.ts'
import { QUESTIONS } from './questions/index.ts'
import { type RecordedRun, ROOT, readRun } from './recorded-run.ts'
import { type Answer, jsonOf, notesOf, tableOf } from './report.ts'
import { Workspace } from './workspace.ts'

/** NDJSON, rows and stores at their most, for each item. */
const TEMPORARY_BYTES_AN_ITEM = 1_500

async function main(words: readonly string[]): Promise<number> {
  const options = parseOptions(words, QUESTIONS)
  if (options.isHelpWanted) {
    console.log(`${USAGE}\nQuestions: ${QUESTIONS.map(({ name }) => name).join(', ')}`)
    return 0
  }
  const startedAt = new Date()
  const answers = await askAll(options)
  console.log(tableOf(answers))
  for (const note of notesOf(answers)) console.log(`\n${note}`)
  if (options.items < FULL_ITEMS)
    console.log(
      `\nThe requirements are for ${counted(FULL_ITEMS, 'item')}. With fewer, the start of a process weighs in import and import-memory.`,
    )
  const json = jsonOf({ ...options, command: ['node bench/run.ts', ...words].join(' '), startedAt, answers })
  printComparison(JSON.parse(json))
  if (options.output !== undefined) {
    const path = resolve(ROOT, options.output)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, json)
    console.error(`All figures, both sides of each ratio, are in ${options.output}.`)
  }
  return 0
}

/** What got better or worse since the run that is recorded, which this one may replace. */
function printComparison(now: RecordedRun): void {
  const file = recordedFile(now.items)
  if (file === undefined || !existsSync(resolve(ROOT, file))) return
  const before = readRun(file)
  const comparisons = compareRuns(before, now)
  console.log(`\n${summaryOf(comparisons, before)}`)
  console.log(comparisonTable(comparisons, false))
}

async function askAll(options: BenchOptions): Promise<Answer[]> {
  const { questions, items } = options
  const expectedMs = estimateMs(questions, items)
  const gigabytes = ((items * TEMPORARY_BYTES_AN_ITEM) / 1e9).toFixed(1)
  console.error(
    `${counted(items, 'item')}: this takes about ${formatDuration(expectedMs)} on two cores and ${gigabytes} GB of temporary files.`,
  )
  const startedAt = performance.now()
  const onStep = (step: string) => {
    const elapsed = formatDuration(performance.now() - startedAt)
    console.error(`[${elapsed} of about ${formatDuration(expectedMs)}] ${step}`)
  }
  using interruption = new Interruption()
  await using workspace = new Workspace({ ...options, signal: interruption.signal, onStep })
  const answers: Answer[] = []
  try {
    for (const question of questions) {
      const askedAt = performance.now()
      const answer = await question.run(workspace)
      answers.push({ question: question.name, answer, durationMs: performance.now() - askedAt })
    }
    return answers
  } catch (error) {
    // An interrupted step fails in many ways; only one of them is the reason.
    interruption.signal.throwIfAborted()
    throw error
  }
}

function failed(error: unknown): number {
  if (error instanceof WrongUse) console.error(`${error.message}\n\n${USAGE}`)
  else if (error instanceof Interrupted)
    console.error(`The bench was ${error.message}; its temporary files are removed.`)
  else console.error(error)
  if (error instanceof Interrupted) return error.exitStatus
  return error instanceof WrongUse ? 2 : 3
}

process.exitCode = await main(process.argv.slice(2)).catch(failed)
