/** What `reams mirror` tells: lines in a log, and on a terminal one line that is kept up to date. */

import { counted, formatCount } from '../../../contract/message-text.ts'
import type { MirrorEvent } from '../../../mirror/mirror.ts'
import { formatDuration, formatRate } from '../../output.ts'
import { startStatus } from '../../progress.ts'
import type { SettingValues } from '../../setting-values.ts'
import type { Log } from '../serve/log.ts'

/** Changes are told together, so often. */
const SUMMARY_MS = 10_000
/** Where nothing changes, that is told so often. */
const QUIET_MS = 60_000

export class MirrorReport implements AsyncDisposable {
  readonly #name: string
  readonly #url: string
  readonly #log: Log
  readonly #timer: NodeJS.Timeout
  #stopStatus: (() => void) | undefined
  /** Since the start, while the two counts below begin again with each summary. */
  readonly #sum = { items_copied: 0, versions: 0, changes: 0 }
  #versions = 0
  #changes = 0
  #behind = 0
  /** When it was last known to be as its origin. */
  #asOf: number | undefined
  #troubleSince: number | undefined
  /** What went wrong since then: each is told once. */
  readonly #told = new Set<string>()
  /** Whether that is why it stands still: it may also be its store. */
  #isOriginAway = false
  #loading: { readonly items: number; readonly total: number } | undefined
  #saidAt = performance.now()

  constructor(name: string, url: string, log: Log) {
    this.#name = name
    this.#url = url
    this.#log = log
    this.#timer = setInterval(() => this.#summarize(QUIET_MS), SUMMARY_MS).unref()
  }

  static async open(name: string, url: string, settings: SettingValues): Promise<MirrorReport> {
    const { openLog } = await import('../serve/log.ts')
    return new MirrorReport(name, url, openLog(settings, true))
  }

  readonly add = (event: MirrorEvent): void => {
    this.#stopStatus ??= startStatus(() => this.#status())
    switch (event.kind) {
      case 'loading':
        this.#loading = event
        break
      case 'loaded':
        this.#loading = undefined
        this.#sum.items_copied += event.items
        this.#say(
          'info',
          `${counted(event.items, 'item')} of ${this.#url} copied in ${formatRate(event.items, event.durationMs)}, ${event.reason}`,
        )
        break
      case 'behind':
        this.#behind = event.versions
        break
      case 'applied':
        this.#versions++
        this.#changes += event.changes
        this.#sum.versions++
        this.#sum.changes += event.changes
        this.#behind = Math.max(0, this.#behind - 1)
        break
      case 'current':
        this.#behind = 0
        this.#asOf = event.at
        break
      case 'retry':
        this.#warn(event)
        break
      case 'back': {
        const since =
          this.#troubleSince === undefined ? '' : `, after ${formatDuration(Date.now() - this.#troubleSince)}`
        this.#troubleSince = undefined
        this.#told.clear()
        this.#say('info', this.#isOriginAway ? `${this.#url} answers again${since}` : `goes on${since}`)
        break
      }
      case 'claimed-by-other':
        this.#say('warn', 'another process keeps this mirror, or makes it; waiting until it ends')
        break
      case 'claimed':
        this.#say('info', 'the other process has ended; this one goes on')
        break
      case 'walked':
        this.#say(
          'warn',
          `${this.#url} does not link snapshots and changes: it is read as a whole when it has changed, and swapped in at once. A change while it is read shows when it is read again`,
        )
    }
  }

  /** For `--json`. */
  facts() {
    const asOf = this.#asOf === undefined ? null : new Date(this.#asOf).toISOString()
    return { collection: this.#name, url: this.#url, ...this.#sum, as_of: asOf }
  }

  #warn({ error, isOrigins, asOf }: Extract<MirrorEvent, { kind: 'retry' }>): void {
    this.#loading = undefined
    this.#troubleSince ??= Date.now()
    this.#isOriginAway = isOrigins
    const message = error instanceof Error ? error.message : String(error)
    if (this.#told.has(message)) return
    this.#told.add(message)
    const sentence = message.replace(/[^.!?]$/, '$&.')
    const state = asOf === 0 ? '' : `The mirror stays as it was at ${new Date(asOf).toISOString()}. `
    this.#say('warn', `${sentence} ${state}It is tried again every second`)
  }

  /** One line when something has changed; else one after `quietMs`. */
  #summarize(quietMs: number): void {
    if (this.#versions === 0 && (this.#asOf === undefined || performance.now() - this.#saidAt < quietMs)) return
    const [versions, changes] = [this.#versions, this.#changes]
    this.#versions = 0
    this.#changes = 0
    this.#say(
      'info',
      `${counted(versions, 'version')} with ${counted(changes, 'change')} applied; ${this.#behindText()}`,
    )
  }

  #status(): string {
    const { items, total } = this.#loading ?? {}
    if (items !== undefined && total !== undefined)
      return `${this.#name}: ${formatCount(items)} of ${formatCount(total)} items copied`
    return `${this.#name}: ${this.#behindText()}`
  }

  #behindText(): string {
    if (this.#troubleSince !== undefined) {
      const what = this.#isOriginAway ? 'its origin is away' : 'it stands still'
      return `${what} since ${new Date(this.#troubleSince).toISOString()}`
    }
    if (this.#asOf === undefined) return 'asks its origin'
    const age = formatDuration(Math.max(0, Date.now() - this.#asOf))
    return `${counted(this.#behind, 'version')} behind, as of ${age} ago`
  }

  #say(level: 'info' | 'warn', text: string): void {
    this.#saidAt = performance.now()
    this.#log[level](`${this.#name}: ${text}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#stopStatus?.()
    this.#summarize(Number.POSITIVE_INFINITY)
    await this.#log[Symbol.asyncDispose]()
  }
}
