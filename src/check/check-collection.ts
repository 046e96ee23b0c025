/** Tries all rules on one collection, and tells a change of the data from a broken rule. */

import { shorten } from '../contract/message-text.ts'
import { Collection } from './collection.ts'
import type { Target } from './find-collections.ts'
import { LimitReached, type Requester } from './http/requester.ts'
import { type HttpResponse, statusLine } from './http/response.ts'
import { findLayout, type Layout, pageOf, samplePages } from './layout.ts'
import { changeBetween } from './page/items.ts'
import type { CollectionReport, RuleReport } from './report.ts'
import { isExcusable, type ReportContext, ruleReport } from './report.ts'
import { type Rule, RuleCheck } from './rule.ts'

interface CollectionOptions extends Target, ReportContext {
  readonly requester: Requester
  readonly rules: readonly Rule[]
  readonly isWalk: boolean
  readonly concurrency: number
  /** Requests for this collection, without those of a walk. */
  readonly requests: number
  readonly onPage: (page: number, last: number) => void
}

/** Requests that are reserved for the readings at the end of an attempt. */
const LAST_READINGS = 3

/** Readings of one page beyond two that differ, before the order is called random. */
const MORE_READINGS = 2

/** How often rules are tried if the data changes meanwhile. */
const MAX_ATTEMPTS = 3

export class CollectionRun {
  readonly #options: CollectionOptions
  readonly #ruleChecks = new Map<Rule, RuleCheck>()
  readonly #notes: string[] = []
  readonly #sentBefore: number
  #layout: Layout | undefined
  /** Of rules that have not been tried at all. */
  #untriedReason = 'it was not tried'

  constructor(options: CollectionOptions) {
    this.#options = options
    this.#sentBefore = options.requester.sent
    options.requester.requestsLeft = options.requests - options.known.length
  }

  async run(): Promise<[CollectionReport, RuleReport[]]> {
    await this.#tryUntilSettled()
    const reports = this.#options.rules.map((rule) =>
      ruleReport(rule, this.#ruleChecks.get(rule), this.#untriedReason, this.#options),
    )
    return [this.#report(), reports]
  }

  async #tryUntilSettled(): Promise<void> {
    const { requester, url, linkUrl } = this.#options
    let rules = this.#options.rules
    let known = this.#options.known
    let isFresh = true
    for (let attempt = 1; ; attempt++) {
      const collection = new Collection(requester, url, linkUrl, known)
      const readings = await this.#attempt(rules, collection)
      const checks = this.#checksOf(rules)
      // A response from an earlier attempt may be out of date without showing it.
      if (!hasChanged(readings) && !checks.some(({ isMoving }) => isMoving) && isFresh) return
      const excusable = checks.filter(isExcusable)
      if (excusable.length === 0) return
      if (await this.#isRandomOrder(readings)) return this.#judgeRandomOrder(excusable)
      if (attempt === MAX_ATTEMPTS) return this.#giveUp(excusable, 'the data changed in every attempt')
      rules = excusable.map(({ rule }) => rule)
      this.#notes.push(`The data changed during the check; tried again: ${rules.map(({ id }) => id).join(', ')}.`)
      known = isFresh ? stillTrue(collection.responses, readings) : []
      isFresh = known.length === 0
    }
  }

  /** Tries rules. Returns readings of the same pages before and after, by which a change shows. */
  async #attempt(rules: readonly Rule[], collection: Collection): Promise<HttpResponse[]> {
    const { requester, hasToken } = this.#options
    try {
      const layout = await findLayout(collection)
      this.#layout ??= layout
      const obstacle = obstacleOf(layout.bare, hasToken)
      if (obstacle !== undefined) {
        this.#giveUp(this.#checksOf(rules), obstacle)
        this.#notes.push(obstacle)
        return []
      }
      requester.requestsLeft -= LAST_READINGS
      await this.#tryRules(rules, collection, layout)
      requester.requestsLeft += LAST_READINGS
      const readings = await readAgain(collection, layout)
      const checks = this.#checksOf(rules)
      for (const check of checks) if (check.skipReason === undefined) check.rule.review?.(check, collection.responses)
      const [, again] = readings
      if (again?.status === 0) this.#giveUpUnanswered(checks, `the server stopped answering: ${statusLine(again)}`)
      return readings
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error
      // Whether the data changed is not known: what rests on a comparison cannot stand.
      this.#giveUp(this.#checksOf(rules).filter(isExcusable), error.message)
      if (this.#layout === undefined) this.#notes.push(error.message)
      return []
    }
  }

  async #tryRules(rules: readonly Rule[], collection: Collection, layout: Layout): Promise<void> {
    for (const rule of rules) {
      const check = new RuleCheck(rule, collection, layout, this.#ruleChecks.has(rule))
      if (!isApplicable(rule, layout)) check.skip(notApplicable(rule, layout))
      this.#ruleChecks.set(rule, check)
    }
    const checks = this.#checksOf(rules).filter(({ skipReason }) => skipReason === undefined)
    await this.#showPages(checks, collection, layout)
    // Rules of the document first: if the requests do not suffice, it is the others that go without.
    for (const letter of ['C', 'D']) {
      const group = checks.filter(({ rule }) => rule.id.startsWith(letter))
      await Promise.all(group.map((check) => this.#guard([check], async () => check.rule.probe?.(check))))
    }
  }

  async #showPages(checks: readonly RuleCheck[], collection: Collection, layout: Layout): Promise<void> {
    const { isWalk, concurrency, requester, onPage } = this.#options
    const watching = checks.filter(({ rule }) => rule.inspect ?? rule.see ?? rule.watch)
    if (watching.length === 0) return
    const last = layout.last ?? 1
    await this.#guard(watching, async () => {
      const watchers = watching.flatMap((check) => check.rule.watch?.(check) ?? [])
      if (isWalk) requester.requestsLeft += last
      for await (const [response, requested] of readPages(collection, layout, isWalk, concurrency)) {
        const page = pageOf(response, requested, collection, layout)
        for (const check of watching) {
          check.rule.inspect?.(check, response)
          if (page !== undefined) check.rule.see?.(check, page)
        }
        if (page !== undefined) for (const watcher of watchers) watcher.see(page)
        onPage(requested, last)
      }
      for (const watcher of watchers) watcher.end?.()
    })
  }

  /** Rules whose requests could not all be sent are not judged, unless what they saw is enough to break them. */
  async #guard(checks: readonly RuleCheck[], work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error
      this.#giveUp(checks, error.message)
    }
  }

  #giveUp(checks: readonly RuleCheck[], obstacle: string): void {
    this.#untriedReason = obstacle
    for (const check of checks) check.obstacle = obstacle
  }

  /** A server that is gone at the end has not broken the rules whose requests it left unanswered. */
  #giveUpUnanswered(checks: readonly RuleCheck[], obstacle: string): void {
    this.#notes.push(obstacle)
    const unanswered = checks.filter(({ findings }) => findings.some(({ isUnanswered }) => isUnanswered))
    for (const check of unanswered) check.forgetUnanswered()
    this.#giveUp(unanswered, obstacle)
  }

  /** None for a rule that has not been tried yet. */
  #checksOf(rules: readonly Rule[]): RuleCheck[] {
    return rules.flatMap((rule) => this.#ruleChecks.get(rule) ?? [])
  }

  /**
   * Whether it is not others who write, but the server that gives no fixed order: item_count stays, and yet items stand in
   * other places with every reading of the same page.
   */
  async #isRandomOrder(readings: readonly HttpResponse[]): Promise<boolean> {
    const same = readings.slice(-2)
    const [before] = same
    const isCountStill = () => new Set(same.map(({ document }) => document?.count)).size === 1
    if (before === undefined || !isCountStill()) return false
    const { requester, url, linkUrl } = this.#options
    try {
      const collection = new Collection(requester, url, linkUrl)
      for (let i = 0; i < MORE_READINGS; i++) same.push(await collection.sendAgain(before.request))
    } catch (error) {
      if (error instanceof LimitReached) return false
      throw error
    }
    return isCountStill() && same.every((response, index) => index === 0 || hasMoved(same[index - 1], response))
  }

  #judgeRandomOrder(checks: readonly RuleCheck[]): void {
    this.#notes.push('Every reading of a page has its items in other places: the order is not fixed (D8).')
    for (const check of checks) if (!check.rule.needsStillness) check.skip('the order is not fixed (D8)')
  }

  #report(): CollectionReport {
    const { url, requester } = this.#options
    const { kind, itemCount } = this.#layout ?? {}
    if (kind === 'unpaginated')
      this.#notes.push(
        'The collection is unpaginated: it has no item_count and none of the page links (C8). Rules about pages were skipped.',
      )
    return {
      url,
      ...(kind !== undefined && kind !== 'no envelope' && { paginated: kind === 'paginated' }),
      ...(itemCount !== undefined && { item_count: itemCount }),
      requests: requester.sent - this.#sentBefore + this.#options.known.length,
      notes: this.#notes,
    }
  }
}

/** The pages on which most comparisons rest, as they were read at the beginning, each followed by a new reading. */
async function readAgain(collection: Collection, { bare, last = 1, kind }: Layout): Promise<HttpResponse[]> {
  const readings = [bare, await collection.sendAgain(bare.request)]
  const pages = kind === 'paginated' ? [...new Set([Math.min(2, last), last])].filter((page) => page > 1) : []
  for (const page of pages) {
    if (hasChanged(readings)) break
    const before = await collection.page(page)
    readings.push(before, await collection.sendAgain(before.request))
  }
  return readings
}

/**
 * Responses that need not be requested again after items came or went: those with the new count, and refusals, which
 * contain no data. If the count is the old one, nothing tells new responses from old ones.
 */
function stillTrue(responses: readonly HttpResponse[], [before, after]: readonly HttpResponse[]): HttpResponse[] {
  const count = after?.document?.count
  if (count === undefined || count === before?.document?.count) return []
  return responses.filter(
    ({ request, status, document }) =>
      request.method === 'GET' && ((status === 200 && document?.count === count) || (status >= 400 && status < 500)),
  )
}

/** Whether two readings of the same page differ in their data; they come in pairs. */
function hasChanged(readings: readonly HttpResponse[]): boolean {
  return readings.some((response, index) => index % 2 === 1 && dataOf(response) !== dataOf(readings[index - 1]))
}

/** Only the items and their count: a time or a number of the request in the envelope is no change of the data. */
function dataOf(response: HttpResponse | undefined): string | undefined {
  const { items, itemCount } = response?.document ?? {}
  return items === undefined ? response?.digest : JSON.stringify([itemCount, items.count, items.contents])
}

function hasMoved(before: HttpResponse | undefined, after: HttpResponse): boolean {
  const [those, these] = [before?.document?.items, after.document?.items]
  if (those === undefined || these === undefined) return false
  return ['moved', 'reordered'].includes(changeBetween(those, these) ?? '')
}

/** There is no collection at this URL, or not at the moment. */
const UNAVAILABLE = [404, 410, 429, 502, 503, 504]

/** Why nothing can be judged, from the response to the bare URL; undefined if the rules can be tried. */
function obstacleOf(bare: HttpResponse, hasToken: boolean): string | undefined {
  const { status, document, beginning, fault, headers } = bare
  if (fault !== undefined) return fault
  if (status === 401 || status === 403 || status === 407)
    return `${statusLine(bare)}: ${hasToken ? 'the token is refused' : 'the collection asks for a token (--token-file)'}`
  if (UNAVAILABLE.includes(status)) return `${statusLine(bare)}: there is no collection to check at this URL`
  if (document !== undefined || status !== 200) return undefined
  // What begins like an object is broken JSON, and C1 says so.
  if (/^(\(not UTF-8\) |\\ufeff)?\s*\{/.test(beginning)) return undefined
  const type = shorten(headers.get('content-type') ?? 'without a Content-Type')
  return `the response is not JSON (${type}): ${beginning || 'it is empty'}`
}

function isApplicable({ scope, countsFromOne }: Rule, { kind, bare, isFromZero }: Layout): boolean {
  if (countsFromOne && isFromZero) return false
  if (scope === 'answer' || bare.status !== 200) return scope === 'answer'
  return scope === '200' || scope === kind || (scope === 'envelope' && kind !== 'no envelope')
}

function notApplicable(rule: Rule, layout: Layout): string {
  if (layout.bare.status !== 200) return 'the collection does not return 200 (C1)'
  if (layout.kind === 'no envelope') return 'the response is not an envelope (C1)'
  if (rule.countsFromOne && layout.isFromZero) return 'pages count from 0 (D1)'
  return rule.scope === 'paginated' ? 'the collection is unpaginated' : 'the collection is paginated'
}

/** A walk ends after this many pages without a response: the others would take as long. */
const MAX_UNANSWERED = 5

/** The bare response, then pages in ascending order, with `concurrency` of them under way; each with its requested number. */
async function* readPages(
  collection: Collection,
  layout: Layout,
  isWalk: boolean,
  concurrency: number,
): AsyncGenerator<[HttpResponse, number]> {
  yield [layout.bare, 1]
  if (layout.kind !== 'paginated') return
  const last = layout.last ?? 1
  const sample = isWalk ? undefined : samplePages(last)
  const pageAt = (index: number) => (sample === undefined ? index + 1 : (sample[index] ?? 1))
  const count = sample?.length ?? last
  const underWay: Promise<HttpResponse>[] = []
  let sent = 0
  let unanswered = 0
  for (let index = 0; index < count; index++) {
    while (sent < count && underWay.length < concurrency) {
      const page = pageAt(sent++)
      // The responses of a walk are too many to keep.
      const response = isWalk ? collection.sendUnrecorded(collection.pageRequest(page)) : collection.page(page)
      // It is awaited in its turn; until then a failure must not count as unhandled.
      response.catch(() => {})
      underWay.push(response)
    }
    const response = await underWay.shift()
    if (response === undefined) return
    yield [response, pageAt(index)]
    unanswered = response.status === 0 ? unanswered + 1 : 0
    if (unanswered === MAX_UNANSWERED) throw new LimitReached(`${unanswered} pages in a row had no answer`)
  }
}
