/** What `reams follow` tells: lines in a log, and on a terminal one line that is kept up to date. */

import { counted, formatCount } from '../../../contract/message-text.ts'
import type { FollowEvent } from '../../../follow/follower.ts'
import { formatDuration, formatRate } from '../../output.ts'
import { startStatus } from '../../progress.ts'
import type { SettingValues } from '../../setting-values.ts'
import type { Log } from '../serve/log.ts'

/** Changes are told together, so often. */
const SUMMARY_MS = 10_000

interface Followed {
  appended: number
  replaced: number
  deleted: number
  isChanged: boolean
  waiting: number
  at: number
  trouble: string
  /** How far a load is. */
  loading: { readonly items: number; readonly estimate: number | undefined } | undefined
}

export class FollowReport implements AsyncDisposable {
  readonly #log: Log
  readonly #collections = new Map<string, Followed>()
  readonly #timer: NodeJS.Timeout
  /** Not before there is something to show: until then, a question may stand there. */
  #stopStatus: (() => void) | undefined

  constructor(log: Log) {
    this.#log = log
    this.#timer = setInterval(() => this.#summarize(), SUMMARY_MS).unref()
  }

  static async open(settings: SettingValues): Promise<FollowReport> {
    const { openLog } = await import('../serve/log.ts')
    return new FollowReport(openLog(settings, true))
  }

  add(name: string, table: string, event: FollowEvent): void {
    const followed = this.#of(name)
    if (event.kind === 'followed') {
      followed.isChanged = true
      followed.appended += event.appended
      followed.replaced += event.replaced
      followed.deleted += event.deleted
    } else if (event.kind === 'loading') {
      followed.loading = event
      this.#stopStatus ??= this.#startStatus()
    } else if (event.kind === 'look') {
      followed.loading = undefined
      this.#stopStatus ??= this.#startStatus()
      followed.waiting = event.waiting
      followed.at = event.at
      followed.trouble = ''
    } else if (event.kind === 'retry') this.#warn(followed, name, event.error)
    else if (event.kind !== 'current') this.#log[levelOf(event)](`${name}: ${textOf(event, table)}`)
  }

  /** One of several is not followed any more. */
  addEnd(name: string, message: string): void {
    this.#collections.delete(name)
    this.#log.error(`${name}: ${message}`)
  }

  #startStatus(): () => void {
    return startStatus(() => [...this.#collections].map(statusOf).join('; '))
  }

  /** The same trouble is told once. */
  #warn(followed: Followed, name: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    if (followed.trouble === message) return
    followed.trouble = message
    this.#log.warn(`${name}: ${message} It is tried again every second.`)
  }

  #summarize(): void {
    for (const [name, followed] of this.#collections) {
      const { appended, replaced, deleted, isChanged, waiting, at } = followed
      if (!isChanged) continue
      this.#log.info(
        `${name}: ${formatCount(appended)} appended, ${formatCount(replaced)} replaced, ${formatCount(deleted)} deleted; ${counted(waiting, 'change')} waiting, ${behind(at)} behind`,
      )
      Object.assign(followed, { appended: 0, replaced: 0, deleted: 0, isChanged: false })
    }
  }

  #of(name: string): Followed {
    const known = this.#collections.get(name)
    if (known !== undefined) return known
    const followed: Followed = {
      appended: 0,
      replaced: 0,
      deleted: 0,
      isChanged: false,
      waiting: 0,
      at: Date.now(),
      trouble: '',
      loading: undefined,
    }
    this.#collections.set(name, followed)
    return followed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#stopStatus?.()
    this.#summarize()
    await this.#log[Symbol.asyncDispose]()
  }
}

function statusOf([name, { waiting, at, loading }]: [string, Followed]): string {
  if (loading === undefined) return `${name}: ${counted(waiting, 'change')} waiting, ${behind(at)} behind`
  const { items, estimate } = loading
  const of = estimate === undefined || estimate < items ? '' : ` of about ${formatCount(estimate)}`
  return `${name}: ${formatCount(items)}${of} rows loaded`
}

function behind(at: number): string {
  return formatDuration(Math.max(0, Date.now() - at))
}

type ToldEvent = Exclude<FollowEvent, { kind: 'followed' | 'look' | 'current' | 'retry' | 'loading' }>

function levelOf(event: ToldEvent): 'info' | 'warn' {
  const isUsual = event.kind === 'loaded' || (event.kind === 'compared' && mended(event) === 0)
  return isUsual ? 'info' : 'warn'
}

function textOf(event: ToldEvent, table: string): string {
  switch (event.kind) {
    case 'claimed-by-other':
      return `another process follows ${table} for this collection; waiting until it ends`
    case 'table-locked':
      return `somebody has locked ${table}; trying again`
    case 'others-idle':
      return `${counted(event.count, 'other follower')} of ${table} ${event.count === 1 ? 'does' : 'do'} not run, and cost its writers time; reams unfollow removes all of them, and this one`
    case 'loaded':
      return `${counted(event.items, 'row')} of ${table} loaded in ${formatRate(event.items, event.durationMs)}, ${event.reason}`
    case 'compared': {
      const looked = `${counted(event.items, 'row')} of ${table} compared in ${formatDuration(event.durationMs)}, ${event.reason}`
      const { appended, replaced, deleted } = event
      const found = `${formatCount(appended)} missing, ${formatCount(replaced)} different and ${formatCount(deleted)} too many; mended`
      return `${looked}: ${mended(event) === 0 ? 'all are the same' : found}`
    }
  }
}

function mended({ appended, replaced, deleted }: { appended: number; replaced: number; deleted: number }): number {
  return appended + replaced + deleted
}
