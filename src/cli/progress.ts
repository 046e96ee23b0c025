/** The progress bar on stderr, on a terminal only: share done, items, items a second, time left. */

import type { WriteStream } from 'node:tty'
import { counted, formatCount, makeVisible } from '../contract/message-text.ts'
import { formatBytes, formatDuration } from './output.ts'

export interface Progress {
  /** Done so far, in the unit of the total, and the items among it. */
  update(done: number, items: number): void
  /** Takes the bar off the screen. */
  stop(): void
}

/** The part of a terminal that the bar needs. */
type ProgressStream = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

/** `total` is undefined where the size is not known: then there is no share and no time left. An estimated one is marked as such. */
export function startProgress(
  label: string,
  total: number | undefined,
  stream?: ProgressStream,
  isEstimate = false,
): Progress {
  const latest: { items: number; share: number | undefined } = { items: 0, share: total === undefined ? undefined : 0 }
  const stop = startLine(stream, (elapsedMs, columns) =>
    progressLine({ label, isEstimate, ...latest, elapsedMs, columns }),
  )
  const update = (done: number, items: number) => {
    latest.items = items
    // An estimate that was too low says nothing any more.
    if (total !== undefined)
      latest.share = isEstimate && done > total ? undefined : Math.min(1, done / Math.max(total, 1))
  }
  return { update, stop }
}

/** The same for a file, whose bytes are what is counted. */
export function startFileProgress(label: string, totalBytes: number, stream?: ProgressStream) {
  let bytes = 0
  const stop = startLine(stream, (elapsedMs, columns) => {
    const share = Math.min(1, bytes / Math.max(totalBytes, 1))
    const rate = `${formatBytes((bytes / Math.max(elapsedMs, 1)) * 1000)}/s`
    return fitted({ label, done: formatBytes(bytes), rate, left: timeLeft(elapsedMs, share) }, share, columns)
  })
  const update = (done: number) => {
    bytes = done
  }
  return { update, stop }
}

/** What is known of a pull, which is exact because the count is known. */
interface PullFigures {
  readonly items: number
  /** Of the whole collection. */
  readonly itemCount: number
  readonly requestsInFlight: number
  /** Of items, in this run. */
  readonly bytes: number
}

/** `itemsBefore` were there before this run. */
export function startPullProgress(label: string, itemsBefore: number, stream?: ProgressStream) {
  let latest: PullFigures | undefined
  const stop = startLine(stream, (elapsedMs, columns) => {
    if (latest === undefined) return makeVisible(label).slice(0, columns)
    return pullLine({ label, ...latest, itemsBefore, elapsedMs, columns })
  })
  const update = (figures: PullFigures) => {
    latest = figures
  }
  return { update, stop }
}

/** A line of one's own, drawn again and again. */
export function startStatus(text: () => string): () => void {
  return startLine(undefined, (_elapsedMs, columns) => makeVisible(text()).slice(0, columns))
}

/** Keeps drawing a line on a terminal until it is stopped, which removes it. Elsewhere nothing is drawn. */
function startLine(
  stream: ProgressStream = process.stderr,
  line: (elapsedMs: number, columns: number) => string,
): () => void {
  if (stream.isTTY !== true) return () => {}
  const startedAt = performance.now()
  let [stop, isStopped] = [() => {}, false]
  // Only a terminal needs it, and no start has to wait for it.
  void import('cli-progress').then(({ SingleBar }) => {
    if (isStopped) return
    const bar = new SingleBar({
      stream,
      clearOnComplete: true,
      // Cut to the width of the terminal, instead of switching its line wrapping off, which a killed process leaves off.
      linewrap: true,
      format: (_options, params) => line(performance.now() - startedAt, params.maxWidth - 1),
    })
    bar.start(1, 0)
    stop = () => bar.stop()
  })
  return () => {
    isStopped = true
    stop()
  }
}

interface ProgressState {
  readonly label: string
  /** From 0 to 1; undefined when it is not known. */
  readonly share: number | undefined
  /** Whether the share is an estimate, and marked as one. */
  readonly isEstimate?: boolean
  readonly items: number
  readonly elapsedMs: number
  /** The width to fill, at most. */
  readonly columns: number
}

export function progressLine(state: ProgressState): string {
  const { label, share, isEstimate = false, items, elapsedMs, columns } = state
  // During the first second the rate mostly measures startup.
  const rate = elapsedMs < 1000 ? undefined : `${formatCount((items / elapsedMs) * 1000)} items/s`
  const left = share === undefined ? undefined : timeLeft(elapsedMs, share)
  return fitted(
    { label, done: counted(items, 'item'), rate, left: isEstimate && left ? `about ${left}` : left },
    share,
    columns,
    isEstimate,
  )
}

type PullState = PullFigures & Omit<ProgressState, 'share'> & { readonly itemsBefore: number }

export function pullLine(state: PullState): string {
  const { label, items, itemCount, itemsBefore, requestsInFlight, bytes, elapsedMs, columns } = state
  const seconds = Math.max(elapsedMs, 1) / 1000
  // A pull that begins again can have fewer than there were before.
  const added = Math.max(0, items - itemsBefore)
  const pieces = {
    label: makeVisible(label),
    done: `${formatCount(items)} of ${counted(itemCount, 'item')}`,
    rate: `${formatCount(added / seconds)} items/s`,
    bytes: `${formatBytes(bytes / seconds)}/s`,
    flight: `${formatCount(requestsInFlight)} in flight`,
    left: timeLeft(elapsedMs, added / Math.max(1, itemCount - itemsBefore)),
  }
  return fitted(pieces, Math.min(1, items / Math.max(1, itemCount)), columns)
}

type Pieces = Partial<
  Record<'label' | 'bar' | 'percent' | 'done' | 'rate' | 'bytes' | 'flight' | 'left', string | undefined>
>

const MAX_BAR = 30
const MIN_BAR = 10

/** Joins the pieces into a line; if it is too long, the least important ones are left out. */
function fitted({ label, ...figures }: Pieces, share: number | undefined, columns: number, isEstimate = false): string {
  const isShared = share !== undefined
  const bar = isShared ? drawBar(share, MIN_BAR) : undefined
  const percent = isShared ? `${isEstimate ? '~' : ''}${Math.floor(share * 100)} %`.padStart(5) : undefined
  const pieces: Pieces = { label, bar, percent, ...figures }
  for (const least of ['percent', 'label', 'flight', 'bytes', 'bar', 'rate', 'left'] as const)
    if (joined(pieces).length > columns) delete pieces[least]
  const room = Math.max(0, columns - joined(pieces).length)
  if (isShared && pieces.bar !== undefined) pieces.bar = drawBar(share, Math.min(MAX_BAR, MIN_BAR + room))
  return joined(pieces)
}

function joined(pieces: Pieces): string {
  return Object.values(pieces)
    .filter((piece) => piece !== undefined)
    .join('  ')
}

/** `width` without the brackets. */
function drawBar(share: number, width: number): string {
  return `[${'='.repeat(Math.round(share * width)).padEnd(width)}]`
}

/** `share` of what there was to do was done in this time; undefined where that tells nothing. */
function timeLeft(elapsedMs: number, share: number): string | undefined {
  if (!(share > 0 && share <= 1)) return undefined
  return `${formatDuration(Math.ceil(((elapsedMs / share) * (1 - share)) / 1000) * 1000)} left`
}
