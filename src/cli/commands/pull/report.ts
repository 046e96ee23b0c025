/** What a pull has to do, what comes of it, and what it says: on stderr, apart from a result for programs. */

import type { Collection, Progress, PullResult, Retry } from '../../../client/index.ts'
import { counted, formatCount, hideSecret } from '../../../contract/message-text.ts'
import { retryText } from '../../client-failure.ts'
import { Failure } from '../../failure.ts'
import type { ItemFormat } from '../../files/item-format.ts'
import { formatBytes, formatDuration, printNote, report } from '../../output.ts'
import { startPullProgress } from '../../progress.ts'
import type { SettingValues } from '../../setting-values.ts'
import type { PullSubject } from './part.ts'

/** Retries are shown at most this often. */
const SHOW_RETRY_EVERY_MS = 1000

interface ReportOptions {
  readonly url: string
  /** Of the collection. */
  readonly name: string
  readonly format: string
  /** Undefined: standard output. */
  readonly path: string | undefined
  readonly token: string | undefined
  readonly settings: SettingValues
}

/** What a pull has to do. */
export interface PullJob {
  readonly subject: PullSubject
  readonly collection: Collection
  readonly signal: AbortSignal
  readonly report: PullReport
  /** Whether to read live pages, also where there is a snapshot. */
  readonly isLive?: boolean
}

export interface PullOutcome {
  /** All that are there now; by the server's own count. */
  readonly items: number
  /** Those of them that were there before this run. */
  readonly itemsBefore: number
  /** Of the items that came now, as NDJSON. */
  readonly bytes: number
  readonly result: PullResult
  /** Columns for which no item has a field. */
  readonly unusedColumns: readonly string[]
}

/** The proof that a pull is complete: throws a Failure unless as many items were written as the server counts. */
export function provenOutcome(
  { items, bytes, format }: { items: number; bytes: number; format: ItemFormat },
  result: PullResult,
  itemsAtBeginning = 0,
): PullOutcome {
  const { itemCount, restarts } = result
  if (items !== itemCount)
    throw new Failure(
      1,
      `${counted(items, 'item')} were written, but the server counts ${counted(itemCount, 'item')}: the pull is not complete.`,
    )
  const itemsBefore = restarts === 0 ? itemsAtBeginning : 0
  // Of items that came before, nobody knows which fields they had.
  return { items, itemsBefore, bytes, result, unusedColumns: itemsBefore === 0 ? format.unusedColumns : [] }
}

export type PullReport = ReturnType<typeof createReport>

export function createReport({ url, name, format, path, token, settings }: ReportOptions) {
  const isQuiet = settings.get('quiet')
  const startedAt = performance.now()
  let retryShownAt = Number.NEGATIVE_INFINITY
  let bar: { stop(): void } | undefined

  function takeOffBar(): void {
    bar?.stop()
    bar = undefined
  }

  /** Something that the user did not expect. */
  function note(text: string): void {
    if (!isQuiet) printNote(hideSecret(text, token))
  }

  function sentences(outcome: PullOutcome, durationMs: number): string {
    const { items, itemsBefore, result } = outcome
    const where = path === undefined ? '' : ` in ${path}`
    const before = itemsBefore === 0 ? '' : `, ${formatCount(items - itemsBefore)} of them new`
    // A file that was complete before has nothing else that is new.
    const isUpdated = itemsBefore > 0 && result.appended === items - itemsBefore
    const came = itemsBefore === 0 ? 'came while it was read' : 'came since the pull was begun'
    const times = result.restarts === 1 ? 'once' : `${formatCount(result.restarts)} times`
    const said = [
      `${name}: complete with ${counted(items, 'item')}${where}${before} (${speedText(outcome, durationMs)}).`,
      result.restarts > 0 && `It changed during the pull and was read again, ${times}.`,
      result.appended > 0 && !isUpdated && `${counted(result.appended, 'item')} ${came}.`,
      result.replaced && 'Items were replaced during the pull: each is there once, in its old or its new version.',
      ...outcome.unusedColumns.map((column) => `No item has a field "${column}".`),
    ]
    return said.filter((sentence) => sentence !== false).join(' ')
  }

  function factsOf({ items, itemsBefore, bytes, result }: PullOutcome, durationMs: number) {
    const { appended, replaced, retries, restarts } = result
    const counts = { items, items_before: itemsBefore, bytes, duration_ms: Math.round(durationMs) }
    return { url, file: path ?? null, format, ...counts, appended, replaced, retries, restarts }
  }

  return {
    note,
    /** Starts the progress bar, unless the items themselves go to the terminal. `bytes` tells how many have come. */
    follow: (itemsBefore: number, bytes: () => number): ((progress: Progress) => void) => {
      if (isQuiet || (path === undefined && process.stdout.isTTY)) return () => {}
      const started = startPullProgress(path ?? name, itemsBefore)
      bar = started
      return (progress) => started.update({ ...progress, bytes: bytes() })
    },
    /** Says on a terminal why nothing moves; a log gets one line, at the end. */
    onRetry: (retry: Retry): void => {
      const now = performance.now()
      if (!process.stderr.isTTY || now - retryShownAt < SHOW_RETRY_EVERY_MS) return
      retryShownAt = now
      note(retryText(retry, 'asking'))
    },
    done: async (outcome: PullOutcome): Promise<void> => {
      takeOffBar()
      const durationMs = performance.now() - startedAt
      const sentence = isQuiet ? undefined : sentences(outcome, durationMs)
      await report(settings, factsOf(outcome, durationMs), sentence, path === undefined ? 'stdout' : 'file')
    },
    [Symbol.dispose]: takeOffBar,
  }
}

function speedText({ items, itemsBefore, bytes }: PullOutcome, durationMs: number): string {
  const took = `${formatBytes(bytes)} in ${formatDuration(durationMs)}`
  const seconds = durationMs / 1000
  // Below a second the rate says more about the start of the program than about the pull.
  if (seconds < 1) return took
  return `${took}, ${formatCount((items - itemsBefore) / seconds)} items/s, ${formatBytes(bytes / seconds)}/s`
}
