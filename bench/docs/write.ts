/** `npm run bench:docs`: writes what the documentation shows of the recorded run. Nothing is measured. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FULL_RUN } from '../options.ts'
import { ROOT, readRun } from '../recorded-run.ts'
import { benchmarksPage } from './benchmarks-page.ts'
import { fill } from './fill.ts'
import { namedFigures } from './named-figures.ts'
import { plotsOf } from './plots.ts'
import { questionTable } from './question-table.ts'

const FOLDER = 'docs/benchmarks'
const EXPLANATION = 'docs/explanation/how-pages-stay-cheap.md'
const ABOUT_THE_BENCH = 'bench/README.md'

/** Every file that follows from the recorded run: its path in the repository, and its text. */
export function benchmarkFiles(): ReadonlyMap<string, string> {
  const run = readRun(FULL_RUN)
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  return new Map([
    [`${FOLDER}/README.md`, benchmarksPage(run)],
    [`${FOLDER}/run.json`, read(FULL_RUN)],
    ...[...plotsOf(run)].map(([name, svg]) => [`${FOLDER}/${name}`, svg] as const),
    [EXPLANATION, fill(read(EXPLANATION), namedFigures(run))],
    [ABOUT_THE_BENCH, fill(read(ABOUT_THE_BENCH), new Map([['questions', `\n\n${questionTable(run)}\n\n`]]))],
  ])
}

if (import.meta.main) {
  mkdirSync(join(ROOT, FOLDER), { recursive: true })
  for (const [path, text] of benchmarkFiles()) writeFileSync(join(ROOT, path), text)
}
