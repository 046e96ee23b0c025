/** Tries all rules on one collection, and tells a change of the data from a broken rule. */

import { type Answer, statusLine } from './answer.ts'
import { curlLine } from './ask.ts'
import { findLayout, type Layout } from './layout.ts'
import { readAll, readSample } from './read-pages.ts'
import type { CollectionReport, FindingReport, RuleReport, RuleStatus } from './report.ts'
import { LimitReached, type Requester } from './requester.ts'
import type { Finding, Rule } from './rule.ts'
import { Subject } from './subject.ts'
import { Trial } from './trial.ts'

export interface CollectionCheck {
  readonly requester: Requester
  readonly url: string
  /** The collection's URL as links should have it. */
  readonly linkUrl: string
  readonly rules: readonly Rule[]
  readonly isStrict: boolean
  readonly isWalk: boolean
  readonly concurrency: number
  /** Requests for this collection, without those of a walk. */
  readonly requests: number
  readonly hasToken: boolean
  readonly onPage: (page: number, last: number) => void
}

/** How often rules are tried when the data changes meanwhile. */
const MOST_ATTEMPTS = 3

interface Outcome {
  readonly trial: Trial | undefined
  /** Why the rule could not be judged. */
  readonly obstacle: string | undefined
}

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
    check.requester.allow(check.requests)
  }

  async run(): Promise<[CollectionReport, RuleReport[]]> {
    const { rules } = this.#check
    let affected = rules
    const counts = new Set<number | undefined>()
    for (let attempt = 1; attempt <= MOST_ATTEMPTS && affected.length > 0; attempt++) {
      const { hasChanged, obstacle, layout, closing } = await this.#attempt(affected, attempt)
      this.#layout ??= layout
      if (obstacle !== undefined) {
        if (attempt === 1) this.#notes.push(obstacle)
        break
      }
      counts.add(layout?.itemCount).add(closing?.document?.count)
      affected = hasChanged ? this.#excusable() : []
      if (hasChanged && affected.length > 0) this.#noteChange(affected, attempt)
    }
    this.#settle(affected, counts.size > 1)
    return [this.#report(), rules.map((rule) => this.#ruleReport(rule))]
  }

  /** Tries rules with fresh answers; the collection is read once more at the end, to see whether it is still the same. */
  async #attempt(rules: readonly Rule[], attempt: number) {
    const { requester, url, linkUrl } = this.#check
    const subject = new Subject(requester, url, linkUrl)
    let layout: Layout | undefined
    try {
      layout = await findLayout(subject)
      const obstacle = obstacleOf(layout.bare)
      if (obstacle !== undefined) {
        this.#giveUp(rules, obstacle)
        return { hasChanged: false, obstacle, layout }
      }
      await this.#tryRules(rules, subject, layout)
      const { hasChanged, closing } = await closeUp(subject, layout)
      if (closing.status === 0) this.#giveUpUnanswered(statusLine(closing))
      for (const rule of rules) {
        const { trial } = this.#outcomes.get(rule) ?? {}
        if (trial !== undefined) rule.review?.(trial, subject.answers)
      }
      return { hasChanged, layout, closing }
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error
      // What was found out before stands; in a repetition the earlier findings were excused, and cannot stand.
      if (attempt > 1 || layout === undefined) this.#giveUp(rules, error.message)
      return { hasChanged: false, obstacle: attempt === 1 ? error.message : undefined, layout }
    }
  }

  async #tryRules(rules: readonly Rule[], subject: Subject, layout: Layout): Promise<void> {
    const applicable = rules.filter((rule) => rule.scope === 'all' || rule.scope === layout.kind)
    for (const rule of rules) {
      const trial = new Trial(subject, layout)
      if (!applicable.includes(rule)) trial.skip(notApplicable(rule, layout))
      this.#outcomes.set(rule, { trial, obstacle: undefined })
    }
    if (layout.kind === 'paginated') await this.#showPages(applicable, subject, layout)
    await Promise.all(applicable.map((rule) => this.#guard([rule], async () => rule.probe?.(this.#trialOf(rule)))))
  }

  async #showPages(rules: readonly Rule[], subject: Subject, layout: Layout): Promise<void> {
    const { isWalk, concurrency, requester, onPage } = this.#check
    const watching = rules.filter(({ watch }) => watch !== undefined)
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
  #giveUpUnanswered(reason: string): void {
    for (const [rule, { trial }] of this.#outcomes)
      if (trial?.findings.some(({ isUnanswered }) => isUnanswered))
        this.#outcomes.set(rule, { trial: undefined, obstacle: `the server stopped answering: ${reason}` })
  }

  #trialOf(rule: Rule): Trial {
    const trial = this.#outcomes.get(rule)?.trial
    if (trial === undefined) throw new Error(`${rule.id} is not on trial`)
    return trial
  }

  /** The rules that are broken only by comparison of answers between which the data may have changed. */
  #excusable(): Rule[] {
    return [...this.#outcomes].filter(([, outcome]) => isExcusable(outcome)).map(([rule]) => rule)
  }

  #noteChange(affected: readonly Rule[], attempt: number): void {
    const ids = affected.map(({ id }) => id).join(', ')
    this.#notes.push(
      attempt < MOST_ATTEMPTS
        ? `The data changed during the check; tried again: ${ids}.`
        : `The data changed again during attempt ${attempt}.`,
    )
  }

  /**
   * Rules that failed in every attempt while the data kept changing. Where the count moves, others are writing, and nothing
   * is proved. Where it stays and the answers differ every time, it is the server that does not keep still.
   */
  #settle(affected: readonly Rule[], isMoving: boolean): void {
    const stillExcused = affected.filter((rule) => isExcusable(this.#outcomes.get(rule)))
    if (isMoving) this.#giveUp(stillExcused, 'the data changed in every attempt')
    else if (stillExcused.length > 0)
      this.#notes.push('Every reading differs although item_count stays the same: the order is not fixed (D8).')
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
      requests: requester.sent - this.#sentBefore,
      notes: this.#notes,
    }
  }

  #ruleReport(rule: Rule): RuleReport {
    const { isStrict, hasToken, url } = this.#check
    const { trial, obstacle } = this.#outcomes.get(rule) ?? { trial: undefined, obstacle: 'it was not tried' }
    const findings = (trial?.findings ?? []).filter((finding) => obstacle === undefined || isCertain(finding))
    const status = statusOf(rule, findings, obstacle ?? trial?.skipReason, isStrict)
    const shown = findings.map((finding) => findingReport(finding, hasToken))
    const [first] = shown
    const reason = obstacle === undefined ? (trial?.skipReason ?? '') : `not judged: ${obstacle}`
    return {
      id: rule.id,
      title: rule.title,
      status,
      detail:
        first === undefined ? (status === 'skip' ? reason : '') : `expected ${first.expected}; came ${first.came}`,
      request: first?.request ?? null,
      collection: url,
      hurts: first === undefined ? '' : rule.hurts,
      judged: status !== 'skip' || obstacle === undefined,
      findings: shown,
    }
  }
}

/** Why nothing at all can be judged; undefined where the rules can be tried. */
function obstacleOf(bare: Answer): string | undefined {
  const { status, document, beginning, fault, headers } = bare
  if (fault !== undefined) return fault
  if (status === 401 || status === 403 || status === 407)
    return `${statusLine(bare)}: the collection asks for a token. Give one with --token-file`
  if (UNAVAILABLE.includes(status)) return `${statusLine(bare)}: there is no collection to judge at this URL`
  if (document !== undefined || status !== 200) return undefined
  // What begins like an object is broken JSON, and C1 says so.
  if (beginning.trimStart().startsWith('{')) return undefined
  return `the answer is not JSON (${headers.get('content-type') ?? 'without a Content-Type'}): ${beginning}`
}

const UNAVAILABLE = [404, 410, 429, 502, 503, 504]

/** Reads the ends of the collection once more. */
async function closeUp(subject: Subject, layout: Layout): Promise<{ hasChanged: boolean; closing: Answer }> {
  const closing = await subject.askAgain(layout.bare.ask)
  if (closing.status === 0 || closing.digest !== layout.bare.digest) return { hasChanged: true, closing }
  if (layout.last === undefined || layout.last === 1) return { hasChanged: false, closing }
  const [before, after] = [await subject.page(layout.last), await subject.askAgain(subject.askPage(layout.last))]
  return { hasChanged: before.digest !== after.digest, closing }
}

function isCertain({ isComparison }: Finding): boolean {
  return !isComparison
}

function isExcusable(outcome: Outcome | undefined): boolean {
  const findings = outcome?.trial?.findings ?? []
  return findings.length > 0 && !findings.some(isCertain)
}

function notApplicable(rule: Rule, layout: Layout): string {
  if (layout.kind === 'no envelope') return 'the answer is no envelope (C1)'
  return rule.scope === 'paginated' ? 'the collection is unpaginated' : 'the collection is paginated'
}

function statusOf(
  rule: Rule,
  findings: readonly Finding[],
  skipReason: string | undefined,
  isStrict: boolean,
): RuleStatus {
  if (findings.some(({ isDoubt }) => !isDoubt)) return rule.id.startsWith('C') || isStrict ? 'fail' : 'warn'
  if (findings.length > 0) return 'warn'
  return skipReason === undefined ? 'pass' : 'skip'
}

function findingReport({ ask, expected, came }: Finding, hasToken: boolean): FindingReport {
  return { request: curlLine(ask, hasToken), expected, came }
}
