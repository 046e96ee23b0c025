/** `docs/benchmarks/README.md`: the tables of a run beside its pictures. */

import { fenced, table } from '../../scripts/page.ts'
import { formatBytes } from '../../src/cli/output.ts'
import { counted, formatCount } from '../../src/contract/message-text.ts'
import type { Latency } from '../latency.ts'
import type { RecordedAnswer, RecordedFigure, RecordedRun } from '../recorded-run.ts'
import { withUnit } from '../report.ts'
import { formatMs, formatRate, significant } from './format.ts'
import { bytesOf, depthsOf, type RateGroup, rateGroups, rivalGroups, sizesOf } from './measured.ts'

const GENERATED =
  '<!-- Written by `npm run bench:docs` from bench/results/full.json; edit bench/docs/, not this file. -->'
const NOT_MEASURED = 'Not measured in this run.'

export function benchmarksPage(run: RecordedRun): string {
  const blocks = [
    GENERATED,
    '# Benchmarks',
    ...aboutTheRun(run),
    ...depthSection(run),
    ...sizeSection(run),
    ...ratesSection(run),
    ...bytesSection(run),
    ...allFigures(run),
  ]
  return `${blocks.join('\n\n')}\n`
}

function aboutTheRun(run: RecordedRun): string[] {
  return [
    'What Reams takes, beside what one would use instead, in the same run on the same machine. A ratio says more than either of its sides: another machine has other milliseconds, and about the same ratios.',
    table(
      ['', ''],
      [
        ['machine', `${run.cpu}, ${run.cores} cores, ${formatBytes(run.memoryBytes)} of memory, Node ${run.node}`],
        ['date', run.date.slice(0, 10)],
        ['command', `\`${run.command}\``],
        ['items', `${formatCount(run.items)}, of ${significant(bytesOf(run).ndjsonBytesAnItem ?? 0)} bytes`],
        ['all that was measured', '[run.json](run.json)'],
      ],
    ),
    'The load comes from another process on the same machine. "By hand" is a server of some forty lines on the same items: Hono, a row an item in SQLite, `COUNT(*)` and `OFFSET`, `JSON.stringify`, the compression middleware. Both answer the same. "No cache" means that every page is read from the store, although it is the same one again and again.',
    'To measure, to see what got slower since this run, and to write this page anew:',
    fenced('npm run bench\nnpm run bench:docs', 'sh'),
  ]
}

function depthSection(run: RecordedRun): string[] {
  const rows = depthsOf(run).map(({ depth, page, handWritten, reams }) => [
    `${depth * 100} %`,
    formatCount(page),
    ...latencyCells(handWritten, reams),
  ])
  return [
    '## Latency by depth',
    `![The latency of a page by its depth: ours stays where it is, with OFFSET it rises](depth.svg)`,
    `One request at a time, gzip, ${counted(run.items, 'item')}, no cache. The first page by hand is slow because of \`COUNT(*)\`; what comes on top with the depth is \`OFFSET\`.`,
    orNotMeasured(rows, ['depth', 'page', ...LATENCY_HEAD]),
  ]
}

function sizeSection(run: RecordedRun): string[] {
  const rows = sizesOf(run).map(({ items, handWritten, reams }) => [
    formatCount(items),
    ...latencyCells(handWritten, reams),
  ])
  return [
    '## Latency by size',
    '![The latency of the last page by the number of items: ours stays where it is, with OFFSET it rises](size.svg)',
    'The last page of collections of several sizes; one request at a time, gzip, no cache.',
    orNotMeasured(rows, ['items', ...LATENCY_HEAD]),
  ]
}

const LATENCY_HEAD = ['by hand, p50', 'p99', 'Reams, p50', 'p99', 'times, p50']

function latencyCells(byHand: Latency, ours: Latency): string[] {
  const times = [byHand.p50Ms, byHand.p99Ms, ours.p50Ms, ours.p99Ms].map(formatMs)
  return [...times, significant(byHand.p50Ms / ours.p50Ms)]
}

function ratesSection(run: RecordedRun): string[] {
  return [
    '## Requests a second',
    '![Requests a second of nginx, of bare node:http and of Reams](rates.svg)',
    'One process, 16 connections.',
    rateTable(rateGroups(run)),
    'And beside the servers that one would use instead:',
    rateTable(rivalGroups(run)),
  ]
}

function rateTable(groups: readonly RateGroup[]): string {
  const rows = groups.flatMap(({ title, rates }) =>
    rates.map(({ name, rate }, index) => [
      index === 0 ? title : '',
      name,
      formatRate(rate.requestsASecond),
      formatMs(rate.p99Ms),
    ]),
  )
  return orNotMeasured(rows, ['', '', 'requests', 'p99'])
}

function bytesSection(run: RecordedRun): string[] {
  const { storeBytes, gzipBytes, rowBytes, ndjsonBytes } = bytesOf(run)
  const sides: [string, number | undefined][] = [
    ['NDJSON', ndjsonBytes],
    ['SQLite, a row an item', rowBytes],
    ['a store of Reams, in SQLite', storeBytes],
    ['gzip -6 of the NDJSON', gzipBytes],
  ]
  const rows = sides.flatMap(([name, bytes]) =>
    bytes === undefined || storeBytes === undefined
      ? []
      : [[name, formatBytes(bytes), significant(bytes / run.items), significant(bytes / storeBytes)]],
  )
  return [
    '## Bytes on disk',
    '![Bytes on disk as NDJSON, as rows, in a store, and as gzip](bytes.svg)',
    orNotMeasured(rows, ['', 'bytes', 'an item', '÷ the store']),
  ]
}

function orNotMeasured(rows: readonly (readonly string[])[], head: readonly string[]): string {
  return rows.length === 0 ? NOT_MEASURED : table(head, rows)
}

function allFigures({ answers }: RecordedRun): string[] {
  const notes = answers.flatMap(({ question, figures }) =>
    figures.flatMap(({ note }) => (note === undefined ? [] : [`- ${question}: ${note}`])),
  )
  return [
    '## All figures',
    'What each question asks is told in [bench/](../../bench/README.md).',
    table(['question', 'what was measured', 'figure', 'required', ''], answers.flatMap(answerRows)),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
  ]
}

function answerRows({ question, skipped, figures }: RecordedAnswer): string[][] {
  if (skipped !== undefined) return [[question, `skipped: ${skipped}`, '', '', '']]
  return figures.map((figure, index) => [index === 0 ? question : '', ...figureCells(figure)])
}

function figureCells({ measured, value, unit, required, isReached }: RecordedFigure): string[] {
  const verdict = isReached === null ? '' : isReached ? 'reached' : '**not reached**'
  return [measured, withUnit(value, unit), required === undefined ? '' : withUnit(required, unit), verdict]
}
