/** The figures that a page written by hand can name. One that the run did not measure is a dash. */

import { formatBytes } from '../../src/cli/output.ts'
import { formatCount } from '../../src/contract/message-text.ts'
import type { RecordedRun } from '../recorded-run.ts'
import { formatMs, significant } from './format.ts'
import { bytesOf, depthsOf, figureOf, medianOf, sizesOf } from './measured.ts'

const NOT_MEASURED = '–'

type Format = (value: number) => string

/** A ratio with two digits behind the point, where it is about 1. */
const ratio: Format = (value) => (value < 10 ? value.toFixed(2) : significant(value))
const count: Format = (value) => formatCount(Number(value.toPrecision(3)))

export function namedFigures(run: RecordedRun): ReadonlyMap<string, string> {
  const figures = { ...pages(run), ...sizes(run), ...load(run), ...postgres(run), ...writes(run), ...bytes(run) }
  const shown = Object.entries(figures).map(
    ([name, [value, format]]) => [name, value === undefined ? NOT_MEASURED : format(value)] as const,
  )
  return new Map([
    ...shown,
    ['items', formatCount(run.items)],
    ['machine', `${run.cpu} with ${run.cores} cores`],
    ['date', run.date.slice(0, 10)],
  ])
}

type Figures = Readonly<Record<string, readonly [value: number | undefined, format: Format]>>

function pages(run: RecordedRun): Figures {
  const [first, last] = [depthsOf(run)[0], depthsOf(run).at(-1)]
  const offsetMs = first && last && last.handWritten.p50Ms - first.handWritten.p50Ms
  return {
    'by-hand-first': [first?.handWritten.p50Ms, formatMs],
    'by-hand-last': [last?.handWritten.p50Ms, formatMs],
    'offset-alone': [offsetMs, formatMs],
    'ours-first': [first?.reams.p50Ms, formatMs],
    'ours-last': [last?.reams.p50Ms, formatMs],
    'ours-bytes': [last?.reams.medianBodyBytes, formatBytes],
    'by-hand-bytes': [last?.handWritten.medianBodyBytes, formatBytes],
    depth: [figureOf(run, 'depth', 'last page ÷ first page')?.value, ratio],
    tail: [figureOf(run, 'depth', 'last page with ')?.value, ratio],
    'holes-gzip': [figureOf(run, 'holes', 'random page with')?.value, ratio],
    'holes-plain': [figureOf(run, 'holes', ', plain')?.value, ratio],
  }
}

function sizes(run: RecordedRun): Figures {
  const [smallest, largest] = [sizesOf(run)[0], sizesOf(run).at(-1)]
  return {
    smallest: [smallest?.items, formatCount],
    'by-hand-smallest': [smallest?.handWritten.p50Ms, formatMs],
    'ours-smallest': [smallest?.reams.p50Ms, formatMs],
    'ours-largest': [largest?.reams.p50Ms, formatMs],
  }
}

function load(run: RecordedRun): Figures {
  const hot = (words: string) => figureOf(run, 'hot-page', words)?.value
  return {
    'hot-plain': [hot('hot page, plain: requests/s ÷ bare'), ratio],
    'hot-gzip': [hot('hot page, gzip: requests/s ÷ bare'), ratio],
    'not-modified': [hot('304'), ratio],
    nginx: [hot('nginx'), ratio],
    'while-appending': [hot('while one client appends'), ratio],
    'cold-gzip': [figureOf(run, 'cold-pages', 'gzip')?.value, ratio],
    'cold-plain': [figureOf(run, 'cold-pages', 'plain')?.value, ratio],
    'store-pages': [medianOf(run, 'cold-page', 'gzip pages/s', 'storePagesASecond'), count],
    'bare-pages': [medianOf(run, 'cold-page', 'gzip pages/s', 'barePagesASecond'), count],
    workers: [figureOf(run, 'workers', 'two workers')?.value, ratio],
  }
}

function postgres(run: RecordedRun): Figures {
  const page = (which: string, name: string) => medianOf(run, 'pg-offset', `${which} page with COUNT`, name)
  return {
    'pg-by-hand-first': [page('first', 'byHandMs'), formatMs],
    'pg-by-hand-last': [page('last', 'byHandMs'), formatMs],
    'pg-ours-last': [page('last', 'p50Ms'), formatMs],
  }
}

function writes(run: RecordedRun): Figures {
  const changed = '÷ appends of the same service'
  const appended = 'an item a request'
  return {
    import: [figureOf(run, 'import', 'the whole process ÷ of bare inserts')?.value, ratio],
    'import-keyed': [figureOf(run, 'import', 'with --key id')?.value, ratio],
    appends: [figureOf(run, 'appends', appended)?.value, ratio],
    'appends-a-second': [medianOf(run, 'appends', appended, 'appendsASecond'), count],
    'appends-a-commit': [medianOf(run, 'appends', appended, 'appendsACommit'), count],
    changes: [figureOf(run, 'replace-delete', changed)?.value, ratio],
    'changes-a-second': [medianOf(run, 'replace-delete', changed, 'changesASecond'), count],
  }
}

function bytes(run: RecordedRun): Figures {
  const { storeBytes, rowBytes, ndjsonBytes } = bytesOf(run)
  const perStore = (other: number | undefined) => other && storeBytes && other / storeBytes
  return {
    'store-bytes': [storeBytes, formatBytes],
    'ndjson-bytes': [ndjsonBytes, formatBytes],
    'bytes-by-gzip': [figureOf(run, 'bytes', 'bytes of the store')?.value, ratio],
    'rows-by-store': [perStore(rowBytes), significant],
  }
}
