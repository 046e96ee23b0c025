/** The progress of a pull, which is exact because the count is known. */

import { makeVisible } from '../../contract/message-text.ts'
import { formatBytes, formatCount, formatItems } from '../figures.ts'
import { drawBar, NARROWEST_BAR, type ProgressStream, percentOf, startLine, timeLeft, WIDEST_BAR } from '../progress.ts'

export interface PullFigures {
  readonly items: number
  /** Of the whole collection. */
  readonly itemCount: number
  readonly requestsInFlight: number
  /** Of items, in this run. */
  readonly bytes: number
}

export interface PullProgressState extends PullFigures {
  readonly label: string
  /** How many were there before this run. */
  readonly itemsBefore: number
  readonly elapsedMs: number
  readonly columns: number
}

export interface PullProgress {
  update(figures: PullFigures): void
  stop(): void
}

export function startPullProgress(
  label: string,
  itemsBefore: number,
  stream: ProgressStream = process.stderr,
): PullProgress {
  const startedAt = performance.now()
  let latest: PullFigures = { items: itemsBefore, itemCount: 0, requestsInFlight: 0, bytes: 0 }
  const line = (columns: number) =>
    pullLine({
      label: makeVisible(label),
      ...latest,
      itemsBefore,
      elapsedMs: performance.now() - startedAt,
      columns,
    })
  const stop = startLine(stream, line)
  return {
    update: (figures) => {
      latest = figures
    },
    stop,
  }
}

/** Where there is no room for all of it, what says least is left out. */
export function pullLine(state: PullProgressState): string {
  const { label, items, itemCount, columns } = state
  if (itemCount === 0) return label.slice(0, Math.max(0, columns))
  const share = Math.min(1, items / itemCount)
  const pieces: Pieces = { label, bar: drawBar(share, NARROWEST_BAR), percent: percentOf(share), ...figuresOf(state) }
  for (const least of ['percent', 'label', 'flight', 'bytes', 'bar', 'rate', 'left'] as const)
    if (widthOf(pieces) > columns) delete pieces[least]
  const barWidth = Math.min(WIDEST_BAR, NARROWEST_BAR + Math.max(0, columns - widthOf(pieces)))
  if (pieces.bar !== undefined) pieces.bar = drawBar(share, barWidth)
  return join(pieces)
}

type Pieces = Partial<
  Record<'label' | 'bar' | 'percent' | 'done' | 'rate' | 'bytes' | 'flight' | 'left', string | undefined>
>

function figuresOf(state: PullProgressState): Pieces {
  const { items, itemCount, itemsBefore, requestsInFlight, bytes, elapsedMs } = state
  const seconds = Math.max(elapsedMs, 1) / 1000
  // A pull that begins again can have fewer than there were before.
  const done = Math.max(0, items - itemsBefore)
  const share = done / Math.max(1, itemCount - itemsBefore)
  return {
    done: `${formatCount(items)} of ${formatItems(itemCount)}`,
    rate: `${formatCount(done / seconds)} items/s`,
    bytes: `${formatBytes(bytes / seconds)}/s`,
    flight: `${formatCount(requestsInFlight)} in flight`,
    left: share > 0 && share <= 1 ? timeLeft(elapsedMs, share) : undefined,
  }
}

function join(pieces: Pieces): string {
  return Object.values(pieces)
    .filter((piece) => piece !== undefined)
    .join('  ')
}

function widthOf(pieces: Pieces): number {
  return join(pieces).length
}
