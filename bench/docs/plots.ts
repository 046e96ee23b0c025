/** The pictures of a run. One that has nothing to show says so: the pages that show it need not know. */

import { formatBytes } from '../../src/cli/output.ts'
import { counted, formatCount } from '../../src/contract/message-text.ts'
import { barPlot } from '../plot/bar-plot.ts'
import { linePlot } from '../plot/line-plot.ts'
import { svgOf, text } from '../plot/svg.ts'
import type { RecordedRun } from '../recorded-run.ts'
import { conditionsOf, formatMs, formatRate, significant } from './format.ts'
import { bytesOf, depthsOf, rateGroups, sizesOf } from './measured.ts'

const BY_HAND = 'COUNT(*) + OFFSET'
const OURS = 'Reams'

/** File names, and what is in them. */
export function plotsOf(run: RecordedRun): ReadonlyMap<string, string> {
  return new Map([
    ['depth.svg', depthPlot(run)],
    ['size.svg', sizePlot(run)],
    ['rates.svg', ratesPlot(run)],
    ['bytes.svg', bytesPlot(run)],
  ])
}

function depthPlot(run: RecordedRun): string {
  const title = `Latency by depth: a page of ${counted(run.items, 'item')}`
  const depths = depthsOf(run)
  if (depths.length === 0) return emptyPlot(title)
  return linePlot({
    title,
    x: { label: 'where the page lies in the collection', scale: 'linear', format: (percent) => `${percent} %` },
    y: { label: 'milliseconds, p50, gzip through HTTP', scale: 'linear', format: formatCount },
    lines: [
      {
        name: BY_HAND,
        isOurs: false,
        points: depths.map(({ depth, handWritten }) => [depth * 100, handWritten.p50Ms]),
      },
      { name: OURS, isOurs: true, points: depths.map(({ depth, reams }) => [depth * 100, reams.p50Ms]) },
    ],
    formatValue: formatMs,
    footer: conditionsOf(run),
  })
}

function sizePlot(run: RecordedRun): string {
  const title = 'Latency by size: the last page of a collection'
  const sizes = sizesOf(run)
  if (sizes.length === 0) return emptyPlot(title)
  return linePlot({
    title,
    x: { label: 'items in the collection, logarithmic', scale: 'log', format: formatCount },
    y: {
      label: 'milliseconds, p50, gzip through HTTP, logarithmic',
      scale: 'log',
      format: (ms) => (ms < 1 ? String(ms) : formatCount(ms)),
    },
    lines: [
      { name: BY_HAND, isOurs: false, points: sizes.map(({ items, handWritten }) => [items, handWritten.p50Ms]) },
      { name: OURS, isOurs: true, points: sizes.map(({ items, reams }) => [items, reams.p50Ms]) },
    ],
    formatValue: formatMs,
    footer: conditionsOf(run),
  })
}

function ratesPlot(run: RecordedRun): string {
  const title = 'Requests a second: one process, 16 connections'
  const groups = rateGroups(run)
  if (groups.length === 0) return emptyPlot(title)
  return barPlot({
    title,
    groups: groups.map(({ title: name, rates }) => ({
      title: name,
      bars: rates.map(({ rate, ...bar }) => ({ ...bar, value: rate.requestsASecond })),
    })),
    formatValue: formatRate,
    footer: conditionsOf(run),
  })
}

function bytesPlot(run: RecordedRun): string {
  const title = `Bytes on disk: ${counted(run.items, 'item')}`
  const { storeBytes, gzipBytes, rowBytes, ndjsonBytes } = bytesOf(run)
  const sides = [
    { name: 'NDJSON', isOurs: false, value: ndjsonBytes },
    { name: 'SQLite, a row an item', isOurs: false, value: rowBytes },
    { name: `${OURS}, a store in SQLite`, isOurs: true, value: storeBytes },
    { name: 'gzip -6 of the NDJSON', isOurs: false, value: gzipBytes },
  ]
  const bars = sides.flatMap(({ value, ...bar }) => (value === undefined ? [] : [{ ...bar, value }]))
  if (storeBytes === undefined) return emptyPlot(title)
  const times = (bytes: number) => (bytes === storeBytes ? '' : `, ${significant(bytes / storeBytes)} times ours`)
  return barPlot({
    title,
    groups: [{ title: '', bars }],
    formatValue: (bytes) => `${formatBytes(bytes)}${times(bytes)}`,
    footer: conditionsOf(run),
  })
}

function emptyPlot(title: string): string {
  const elements = [
    text(title, { x: 16, y: 26, class: 'title' }),
    text('Not measured in this run.', { x: 16, y: 54, class: 'faint' }),
  ]
  return svgOf({ width: 760, height: 76, title, description: 'Not measured in this run.', elements })
}
