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

const WIDEST_BAR = 30
const NARROWEST_BAR = 10

/** `total` is undefined where the size is not known: then there is no share and no time left. */
export function startProgress(
  label: string,
  total: number | undefined,
  stream: ProgressStream = process.stderr,
): Progress {
  if (stream.isTTY !== true) return { update: () => {}, stop: () => {} }
  const startedAt = Date.now()
  const bar = new SingleBar({
    stream,
    clearOnComplete: true,
    // Cut to the width of the terminal, instead of switching its line wrapping off, which a killed process leaves off.
    linewrap: true,
    format: (_options, params, payload: { items: number }) =>
      progressLine({
        label,
        share: total === undefined ? undefined : params.progress,
        items: payload.items,
        elapsedMs: Date.now() - startedAt,
        columns: params.maxWidth - 1,
      }),
  })
  bar.start(total ?? 0, 0, { items: 0 })
  return {
    update: (done, items) => bar.update(done, { items }),
    stop: () => bar.stop(),
  }
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
  figures.unshift(`${Math.floor(share * 100)} %`.padStart(5))
  if (share > 0) figures.push(`${formatDuration(Math.ceil(((elapsedMs / share) * (1 - share)) / 1000) * 1000)} left`)
  const room = columns - figures.join('  ').length - '  []  '.length
  const shownLabel = shorten(label, room - NARROWEST_BAR)
  const barWidth = Math.max(NARROWEST_BAR, Math.min(WIDEST_BAR, room - shownLabel.length))
  const full = Math.round(share * barWidth)
  return [shownLabel, `[${'='.repeat(full).padEnd(barWidth)}]`, ...figures].join('  ')
}

/** The end of a path says more than its beginning. */
function shorten(label: string, length: number): string {
  return label.length <= length ? label : `…${label.slice(1 - Math.max(length, 2))}`
}
