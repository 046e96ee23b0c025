/** What a pull says while it runs and when it is done: on stderr, apart from a result for programs. */

import type { Progress, Retry } from '../../client/index.ts'
import { hideSecret } from '../../contract/message-text.ts'
import { formatDuration } from '../figures.ts'
import { print, printError } from '../output.ts'
import { startProgress } from '../progress.ts'
import { startPullProgress } from './progress.ts'
import { type PullSummary, summaryJson, summaryText } from './summary.ts'

/** Of many retries at a time one is told. */
const TELL_EVERY_MS = 1000

export interface ReportOptions {
  /** What the bar is about. */
  readonly label: string
  readonly token: string | undefined
  readonly isQuiet: boolean
  readonly isJson: boolean
  /** Whether a bar is welcome, should there be a terminal. */
  readonly hasBar: boolean
}

export class PullReport implements Disposable {
  readonly #options: ReportOptions
  readonly #startedAt = performance.now()
  #progress: { stop(): void } | undefined
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(options: ReportOptions) {
    this.#options = options
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt
  }

  /** Begins the bar. `bytes` tells how many have come. */
  follow(itemsBefore: number, bytes: () => number): (progress: Progress) => void {
    this.stop()
    const { label, hasBar } = this.#options
    if (!hasBar) return () => {}
    const bar = startPullProgress(label, itemsBefore)
    this.#progress = bar
    return (progress) => bar.update({ ...progress, bytes: bytes() })
  }

  /** Begins the bar of what is done with items when all have come. */
  followConversion(items: number): (done: number) => void {
    this.stop()
    const { label, hasBar } = this.#options
    if (!hasBar) return () => {}
    const bar = startProgress(`${label}, rows`, items)
    this.#progress = bar
    return (done) => bar.update(done, done)
  }

  stop(): void {
    this.#progress?.stop()
    this.#progress = undefined
  }

  /** Something that the user did not expect. */
  note(text: string): void {
    if (this.#options.isQuiet) return
    // The bar, if there is one, is drawn again below.
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    printError(`reams: ${hideSecret(text, this.#options.token)}`)
  }

  /** Who watches wants to know why nothing moves; in a log there is one line, at the end. */
  readonly onRetry = ({ retry, delayMs, error }: Retry): void => {
    const now = performance.now()
    if (!process.stderr.isTTY || now - this.#toldAt < TELL_EVERY_MS) return
    this.#toldAt = now
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
    this.note(`${reason}; asking again in ${formatDuration(delayMs)} (retry ${retry}).`)
  }

  async done(summary: PullSummary): Promise<void> {
    this.stop()
    const { isQuiet, isJson } = this.#options
    // Where the items go to standard output, nothing else does.
    if (isJson && summary.output.path === undefined) process.stderr.write(`${summaryJson(summary)}\n`)
    else if (isJson) await print(summaryJson(summary))
    else if (!isQuiet) printError(summaryText(summary))
  }

  [Symbol.dispose](): void {
    this.stop()
  }
}
