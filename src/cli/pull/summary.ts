/** What a pull that is done says, to people and to programs. */

import type { PullResult } from '../../client/index.ts'
import { formatBytes, formatCount, formatDuration, formatItems } from '../figures.ts'
import type { PullOutput } from './output.ts'

export interface PullSummary {
  readonly url: string
  /** Of the collection. */
  readonly name: string
  readonly output: PullOutput
  /** All that are there now; by the server's own count. */
  readonly items: number
  /** Those of them that were there before this run. */
  readonly itemsBefore: number
  /** Of the items that came now, as NDJSON. */
  readonly bytes: number
  readonly durationMs: number
  /** What the client tells; undefined when nothing had to be pulled. */
  readonly result: PullResult | undefined
  /** Columns for which no item has a field. */
  readonly unusedColumns: readonly string[]
}

export function summaryText(summary: PullSummary): string {
  const { name, output, items, itemsBefore, result } = summary
  const where = output.path === undefined ? '' : ` in ${output.path}`
  if (result === undefined) return `${name}: still complete with ${formatItems(items)}${where}.`
  const before = itemsBefore === 0 ? '' : `, ${formatCount(items - itemsBefore)} of them new`
  const sentences = [
    `${name}: complete with ${formatItems(items)}${where}${before} (${speedText(summary)}).`,
    result.restarts > 0 && `It changed meanwhile and was read again, ${timesText(result.restarts)}.`,
    result.appended > 0 && `${formatItems(result.appended)} came while it was read.`,
    result.replaced && 'Items were replaced while it was read: each is there once, as it was before or after.',
    ...summary.unusedColumns.map((column) => `No item has a field "${column}".`),
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

export function summaryJson(summary: PullSummary): string {
  const { url, output, items, itemsBefore, bytes, durationMs, result } = summary
  return JSON.stringify({
    url,
    file: output.path ?? null,
    format: output.format,
    items,
    items_before: itemsBefore,
    bytes,
    duration_ms: Math.round(durationMs),
    appended: result?.appended ?? 0,
    replaced: result?.replaced ?? false,
    retries: result?.retries ?? 0,
    restarts: result?.restarts ?? 0,
  })
}

function speedText({ items, itemsBefore, bytes, durationMs }: PullSummary): string {
  const took = `${formatBytes(bytes)} in ${formatDuration(durationMs)}`
  const seconds = durationMs / 1000
  // Below a second the rate says more about the start of the program than about the pull.
  if (seconds < 1) return took
  return `${took}, ${formatCount((items - itemsBefore) / seconds)} items/s, ${formatBytes(bytes / seconds)}/s`
}

function timesText(count: number): string {
  return count === 1 ? 'once' : `${formatCount(count)} times`
}
