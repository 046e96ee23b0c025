/** The progress bar on stderr, on a terminal only: share done, items, items a second, time left. */

import type { WriteStream } from 'node:tty'
import { SingleBar } from 'cli-progress'
import { formatCount, formatDuration, formatItems } from './figures.ts'

export interface Progress {
  /** Done so far, in the unit of the total, and the items among it. */
  update(done: number, items: number): void
  /** Takes the bar off the screen. */
  stop(): void
}

/** The part of a terminal that the bar needs. */
export type ProgressStream = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

export const WIDEST_BAR = 30
export const NARROWEST_BAR = 10

/** `total` is undefined where the size is not known: then there is no share and no time left. */
export function startProgress(
  label: string,
  total: number | undefined,
  stream: ProgressStream = process.stderr,
): Progress {
  const startedAt = performance.now()
  const latest = { done: 0, items: 0 }
  const stop = startLine(stream, (columns) =>
    progressLine({
      label,
      share: total === undefined ? undefined : Math.min(1, latest.done / Math.max(total, 1)),
      items: latest.items,
      elapsedMs: performance.now() - startedAt,
      columns,
    }),
  )
  return { update: (done, items) => Object.assign(latest, { done, items }), stop }
}

/** Draws a line on a terminal again and again, until it is stopped, which takes it off. Elsewhere nothing is drawn. */
export function startLine(stream: ProgressStream, line: (columns: number) => string): () => void {
  if (stream.isTTY !== true) return () => {}
  const bar = new SingleBar({
    stream,
    clearOnComplete: true,
    // Cut to the width of the terminal, instead of switching its line wrapping off, which a killed process leaves off.
    linewrap: true,
    format: (_options, params) => line(params.maxWidth - 1),
  })
  bar.start(1, 0)
  return () => bar.stop()
}

export interface ProgressState {
  readonly label: string
  /** From 0 to 1; undefined when it is not known. */
  readonly share: number | undefined
  readonly items: number
  readonly elapsedMs: number
  /** The width to fill, at most. */
  readonly columns: number
}

export function progressLine({ label, share, items, elapsedMs, columns }: ProgressState): string {
  const figures = [formatItems(items), `${formatCount((items / Math.max(elapsedMs, 1)) * 1000)} items/s`]
  if (share === undefined) return [label, ...figures].join('  ')
  figures.unshift(percentOf(share))
  if (share > 0) figures.push(timeLeft(elapsedMs, share))
  const room = columns - figures.join('  ').length - '  []  '.length
  const shownLabel = shorten(label, room - NARROWEST_BAR)
  const barWidth = Math.max(NARROWEST_BAR, Math.min(WIDEST_BAR, room - shownLabel.length))
  return [shownLabel, drawBar(share, barWidth), ...figures].join('  ')
}

/** `width` without the brackets. */
export function drawBar(share: number, width: number): string {
  return `[${'='.repeat(Math.round(share * width)).padEnd(width)}]`
}

export function percentOf(share: number): string {
  return `${Math.floor(share * 100)} %`.padStart(5)
}

/** `share` of what there was to do was done in this time. */
export function timeLeft(elapsedMs: number, share: number): string {
  return `${formatDuration(Math.ceil(((elapsedMs / share) * (1 - share)) / 1000) * 1000)} left`
}

/** The end of a path says more than its beginning. */
function shorten(label: string, length: number): string {
  return label.length <= length ? label : `…${label.slice(1 - Math.max(length, 2))}`
}
