/** Tries all rules on one collection, and tells a change of the data from a broken rule. */

import { type Answer, statusLine } from './answer.ts'
import type { Target } from './find-targets.ts'
import { findLayout, type Layout } from './layout.ts'
import { obstacleOf } from './obstacle.ts'
import { changeBetween } from './order.ts'
import { readAll, readSample } from './read-pages.ts'
import type { CollectionReport, RuleReport } from './report.ts'
import { LimitReached, type Requester } from './requester.ts'
import type { Rule } from './rule.ts'
import { isExcusable, type Outcome, type ReportContext, ruleReport } from './rule-report.ts'
import { Subject } from './subject.ts'
import { Trial } from './trial.ts'

export interface CollectionCheck extends Target, ReportContext {
  readonly requester: Requester
  readonly rules: readonly Rule[]
  readonly isWalk: boolean
  readonly concurrency: number
  /** Requests for this collection, without those of a walk. */
  readonly requests: number
  readonly onPage: (page: number, last: number) => void
}

/** Requests that are set aside for the readings at the end of an attempt. */
const LAST_READINGS = 3

/** Readings of one page beyond two that differ, before the server is called restless. */
const MORE_READINGS = 2

/** How often rules are tried when the data changes meanwhile. */
const MAX_ATTEMPTS = 3

export async function checkCollection(check: CollectionCheck): Promise<[CollectionReport, RuleReport[]]> {
  return new CollectionRun(check).run()
}

class CollectionRun {
  readonly #check: CollectionCheck
  readonly #outcomes = new Map<Rule, Outcome>()
  readonly #notes: string[] = []
  readonly #sentBefore: number
  #layout: Layout | undefined

  constructor(check: CollectionCheck) {
    this.#check = check
    this.#sentBefore = check.requester.sent
    check.requester.allow(check.requests - check.known.length)
  }

  async run(): Promise<[CollectionReport, RuleReport[]]> {
    await this.#tryUntilSettled()
    const untried = { trial: undefined, obstacle: 'it was not tried' }
    const reports = this.#check.rules.map((rule) => ruleReport(rule, this.#outcomes.get(rule) ?? untried, this.#check))
    return [this.#report(), reports]
  }

  async #tryUntilSettled(): Promise<void> {
    const { requester, url, linkUrl, rules } = this.#check
    let affected = rules
    let known: readonly Answer[] = this.#check.known
    let isFresh = true
    for (let attempt = 1; ; attempt++) {
      const subject = new Subject(requester, url, linkUrl, known)
      const readings = await this.#attempt(affected, subject)
      // An answer from an earlier attempt may be out of date without showing it.
      if (!hasChanged(readings) && !this.#isMoving(affected) && isFresh) return
      affected = affected.filter((rule) => isExcusable(this.#outcomes.get(rule)))
      if (affected.length === 0) return
      if (await this.#isRestless(readings)) return this.#judgeRestless(affected)
      if (attempt === MAX_ATTEMPTS) return this.#giveUp(affected, 'the data changed in every attempt')
      this.#notes.push(`The data changed during the check; tried again: ${affected.map(({ id }) => id).join(', ')}.`)
      known = isFresh ? stillTrue(subject.answers, readings) : []
      isFresh = known.length === 0
    }
  }

  #isMoving(rules: readonly Rule[]): boolean {
    return rules.some((rule) => this.#outcomes.get(rule)?.trial?.isMoving)
  }

  /** Tries rules. Answers the readings of the same pages before and after, by which a change shows. */
  async #attempt(rules: readonly Rule[], subject: Subject): Promise<Answer[]> {
    const { requester } = this.#check
    try {
      const layout = await findLayout(subject)
      this.#layout ??= layout
      const obstacle = obstacleOf(layout.bare, this.#check.hasToken)
      if (obstacle !== undefined) {
        this.#giveUp(rules, obstacle)
        this.#notes.push(obstacle)
        return []
      }
      requester.allow(requester.requestsLeft - LAST_READINGS)
      await this.#tryRules(rules, subject, layout)
      requester.allow(requester.requestsLeft + LAST_READINGS)
      const readings = await readAgain(subject, layout)
      this.#review(rules, subject)
      const [, again] = readings
      if (again?.status === 0) this.#giveUpUnanswered(rules, `the server stopped answering: ${statusLine(again)}`)
      return readings
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error
      // Whether the data changed was not found out: what rests on a comparison cannot stand.
      const untried = rules.filter((rule) => !this.#outcomes.has(rule) || isExcusable(this.#outcomes.get(rule)))
      this.#giveUp(untried, error.message)
      if (this.#layout === undefined) this.#notes.push(error.message)
      return []
    }
  }

  async #tryRules(rules: readonly Rule[], subject: Subject, layout: Layout): Promise<void> {
    const applicable = rules.filter((rule) => isApplicable(rule, layout))
    for (const rule of rules) {
      const trial = new Trial(subject, layout, this.#outcomes.has(rule))
      if (!applicable.includes(rule)) trial.skip(notApplicable(rule, layout))
      this.#outcomes.set(rule, { trial, obstacle: undefined })
    }
    await this.#showPages(applicable, subject, layout)
    // Rules of the document first: if the requests do not suffice, it is the others that go without.
    for (const letter of ['C', 'D']) {
      const group = applicable.filter(({ id }) => id.startsWith(letter))
      await Promise.all(group.map((rule) => this.#guard([rule], async () => rule.probe?.(this.#trialOf(rule)))))
    }
  }

  async #showPages(rules: readonly Rule[], subject: Subject, layout: Layout): Promise<void> {
    const { isWalk, concurrency, requester, onPage } = this.#check
    const watching = rules.filter(({ watch }) => watch !== undefined)
    if (watching.length === 0) return
    const last = layout.last ?? 1
    await this.#guard(watching, async () => {
      const watchers = watching.flatMap((rule) => rule.watch?.(this.#trialOf(rule)) ?? [])
      if (isWalk) requester.allow(requester.requestsLeft + last)
      for await (const [answer, page] of isWalk ? readAll(subject, layout, concurrency) : readSample(subject, layout)) {
        for (const watcher of watchers) watcher.see(answer, page)
        onPage(page, last)
      }
      for (const watcher of watchers) watcher.end?.()
    })
  }

  /** Rules whose questions could not all be asked are not judged, unless what they saw is enough to break them. */
  async #guard(rules: readonly Rule[], work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error
      this.#giveUp(rules, error.message)
    }
  }

  #giveUp(rules: readonly Rule[], obstacle: string): void {
    for (const rule of rules) this.#outcomes.set(rule, { trial: this.#outcomes.get(rule)?.trial, obstacle })
  }

  /** A server that is gone at the end has not broken the rules whose requests it left unanswered. */
  #giveUpUnanswered(rules: readonly Rule[], obstacle: string): void {
    this.#notes.push(obstacle)
    const unanswered = rules.filter((rule) => this.#trialOf(rule).findings.some(({ isUnanswered }) => isUnanswered))
    for (const rule of unanswered) this.#trialOf(rule).forgetUnanswered()
    this.#giveUp(unanswered, obstacle)
  }

  #review(rules: readonly Rule[], subject: Subject): void {
    for (const rule of rules) {
      const trial = this.#trialOf(rule)
      if (trial.skipReason === undefined) rule.review?.(trial, subject.answers)
    }
  }

  #trialOf(rule: Rule): Trial {
    const trial = this.#outcomes.get(rule)?.trial
    if (trial === undefined) throw new Error(`${rule.id} is not on trial`)
    return trial
  }

  /**
   * Whether it is not others who write, but the server that does not keep still: item_count stays, and yet items stand in
   * other places with every reading of the same page.
   */
  async #isRestless(readings: readonly Answer[]): Promise<boolean> {
    const same = readings.slice(-2)
    const [before] = same
    const isStill = () => new Set(same.map(({ document }) => document?.count)).size === 1
    if (before === undefined || !isStill()) return false
    const { requester, url, linkUrl } = this.#check
    try {
      const subject = new Subject(requester, url, linkUrl)
      for (let i = 0; i < MORE_READINGS; i++) same.push(await subject.askAgain(before.ask))
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error
      return false
    }
    return isStill() && same.every((answer, index) => index === 0 || hasMoved(same[index - 1], answer))
  }

  #judgeRestless(affected: readonly Rule[]): void {
    this.#notes.push('Every reading of a page has its items in other places: the order is not fixed (D8).')
    for (const rule of affected.filter(({ needsStillness }) => needsStillness !== true)) {
      this.#trialOf(rule).skip('the order is not fixed (D8)')
    }
  }

  #report(): CollectionReport {
    const { url, requester } = this.#check
    const { kind, itemCount } = this.#layout ?? {}
    if (kind === 'unpaginated')
      this.#notes.push(
        'The collection is unpaginated: it has no item_count and none of the page links (C8). Rules about pages were skipped.',
      )
    return {
      url,
      ...(kind !== undefined && kind !== 'no envelope' && { paginated: kind === 'paginated' }),
      ...(itemCount !== undefined && { item_count: itemCount }),
      requests: requester.sent - this.#sentBefore + this.#check.known.length,
      notes: this.#notes,
    }
  }
}

/** The pages on which most comparisons rest, as they were read at the beginning, each followed by a new reading. */
async function readAgain(subject: Subject, { bare, last = 1, kind }: Layout): Promise<Answer[]> {
  const readings = [bare, await subject.askAgain(bare.ask)]
  const pages = kind === 'paginated' ? [...new Set([Math.min(2, last), last])].filter((page) => page > 1) : []
  for (const page of pages) {
    if (hasChanged(readings)) break
    const before = await subject.page(page)
    readings.push(before, await subject.askAgain(before.ask))
  }
  return readings
}

/**
 * Answers that need not be asked for again after items came or went: those with the new count, and refusals, in which no
 * data stand. Where the count is the old one, nothing tells new answers from old ones.
 */
function stillTrue(answers: readonly Answer[], [before, after]: readonly Answer[]): Answer[] {
  const count = after?.document?.count
  if (count === undefined || count === before?.document?.count) return []
  return answers.filter(
    ({ ask, status, document }) =>
      ask.method === 'GET' && ((status === 200 && document?.count === count) || (status >= 400 && status < 500)),
  )
}

/** Whether two readings of the same page differ in their data; they come in pairs. */
function hasChanged(readings: readonly Answer[]): boolean {
  return readings.some((answer, index) => index % 2 === 1 && dataOf(answer) !== dataOf(readings[index - 1]))
}

/** Not what stands around it: a time or a number of the request in the envelope is no change of the data. */
function dataOf(answer: Answer | undefined): string | undefined {
  const { items, itemCount } = answer?.document ?? {}
  return items === undefined ? answer?.digest : JSON.stringify([itemCount, items.count, items.contents])
}

function hasMoved(before: Answer | undefined, after: Answer): boolean {
  const [those, these] = [before?.document?.items, after.document?.items]
  return (
    those !== undefined && these !== undefined && ['moved', 'reordered'].includes(changeBetween(those, these) ?? '')
  )
}

function isApplicable({ scope, countsFromOne }: Rule, { kind, bare, isFromZero }: Layout): boolean {
  if (countsFromOne && isFromZero) return false
  if (scope === 'answer' || bare.status !== 200) return scope === 'answer'
  return scope === '200' || scope === kind || (scope === 'envelope' && kind !== 'no envelope')
}

function notApplicable(rule: Rule, layout: Layout): string {
  if (layout.bare.status !== 200) return 'the collection does not answer 200 (C1)'
  if (layout.kind === 'no envelope') return 'the answer is no envelope (C1)'
  if (rule.countsFromOne && layout.isFromZero) return 'pages count from 0 (D1)'
  return rule.scope === 'paginated' ? 'the collection is unpaginated' : 'the collection is paginated'
}
