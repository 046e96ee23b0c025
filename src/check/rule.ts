/** What a rule of the checker is made of, and how it is tried on a collection. Each rule stands in `rules/`. */

import { makeVisible } from '../contract/message-text.ts'
import type { Collection } from './collection.ts'
import type { HttpRequest } from './http/response.ts'
import { type HttpResponse, statusLine } from './http/response.ts'
import type { Layout, Page } from './layout.ts'

export type RuleId =
  | `C${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10}`
  | `D${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 22}`

/**
 * The section that explains a rule, as a path in the repository: the documentation has no public address.
 * `reams check --explain` prints the same text wherever Reams is installed.
 */
export function rulePage(id: RuleId): string {
  return `docs/reference/rules.md#${id.toLowerCase()}`
}

export interface Rule {
  readonly id: RuleId
  /** One sentence: what is true if the rule is kept. */
  readonly title: string
  /** Why the rule exists. */
  readonly why: string
  /** Who is affected if it is broken, in words that follow "affects". */
  readonly affects: string
  /** A response that keeps the rule, and one that breaks it. */
  readonly right: string
  readonly wrong: string
  /** What it needs: any response, even one that is not 200; a 200; an envelope; one with pages, or one without. */
  readonly scope: 'answer' | '200' | 'envelope' | 'paginated' | 'unpaginated'
  /** Whether it gives a warning at most, even with `strict`, because the contract does not say enough to fail a server. */
  readonly onlyWarns?: true
  /** Whether it requests pages by numbers that count from 1: it cannot be tried if they count from 0 (D1). */
  readonly countsFromOne?: true
  /** Whether a server breaks it whose every reading differs; others cannot be judged then. */
  readonly needsStillness?: true
  /** Looks at every response to the pages that the run reads, errors included. */
  readonly inspect?: (check: RuleCheck, response: HttpResponse) => void
  /** Looks at the pages that the run reads, in ascending order. */
  readonly see?: (check: RuleCheck, page: Page) => void
  /** The same, for a rule that has to remember pages. */
  readonly watch?: (check: RuleCheck) => Watcher
  /** Sends requests of its own. */
  readonly probe?: (check: RuleCheck) => Promise<void>
  /** Looks at all responses of the run, after every other rule has sent its requests. */
  readonly review?: (check: RuleCheck, responses: readonly HttpResponse[]) => void
}

export interface Watcher {
  see(page: Page): void
  /** After the last one. */
  end?(): void
}

/** One way in which a rule is broken, or may be. */
export interface Finding {
  readonly request: HttpRequest
  /** Whether no response came at all. */
  readonly isUnanswered: boolean
  readonly expected: string
  readonly got: string
  /** Whether the response is wrong only compared with another one, so that a change of the data would explain it. */
  readonly isComparison: boolean
  /** Whether something merely looks odd, and the rule is not broken. */
  readonly isDoubt: boolean
}

/** A response, or the request alone if several responses make the case. */
type Evidence = Pick<HttpResponse, 'request'> & Partial<Pick<HttpResponse, 'status'>>

export interface Difference {
  readonly expected: string
  readonly got: string
}

/** Undefined if there is no difference. */
export type DifferenceOf = (reference: HttpResponse, response: HttpResponse) => Difference | undefined

/** Of each kind, so that a walk through a million broken pages ends with a report. */
const MAX_FINDINGS = 20

/** Of `expected` and of `got`. */
const MAX_CHARACTERS = 400

/** One rule that is being tried: where it finds the responses of the server, and where it says what it found. */
export class RuleCheck {
  readonly rule: Rule
  readonly collection: Collection
  readonly layout: Layout
  findings: readonly Finding[] = []
  /** Why there is nothing to judge. */
  skipReason: string | undefined
  /** Why the rule applies, but cannot be judged. */
  obstacle: string | undefined
  /** Whether the data was seen to change while responses were compared. */
  isMoving = false
  /** Responses that look odd compared with the others, to be requested again. */
  readonly suspects: HttpResponse[] = []

  readonly #isRetry: boolean

  /** `isRetry`: the rule was tried before, and what it found may have been a change of the data. */
  constructor(rule: Rule, collection: Collection, layout: Layout, isRetry: boolean) {
    this.rule = rule
    this.#isRetry = isRetry
    this.collection = collection
    this.layout = layout
  }

  /** The response alone shows that the rule is broken. */
  broken(evidence: Evidence, expected: string, got: string): void {
    this.#add(evidence, expected, got, false, false)
  }

  /** The response and another one together show it, unless the data changed between the two. */
  differs(evidence: Evidence, expected: string, got: string): void {
    this.#add(evidence, expected, got, true, false)
  }

  /** Legal, but worth a look. */
  doubt(evidence: Evidence, expected: string, got: string): void {
    this.#add(evidence, expected, got, true, true)
  }

  /**
   * Compares a response with one that it should be like. If even their counts differ, items may have come or gone in
   * between, and the rule is tried once more. If they differ then too, both are requested again: what agrees at last was a
   * change of the data; what differs in the same way every time is the server's fault; anything else is data that moves.
   */
  async compare(reference: HttpResponse, response: HttpResponse, differenceOf: DifferenceOf): Promise<void> {
    const difference = differenceOf(reference, response)
    if (difference === undefined) return
    const counts = [reference, response].flatMap(({ document }) => document?.count ?? [])
    const isSuspicious = counts.length === 2 && counts[0] !== counts[1]
    if (isSuspicious && !this.#isRetry) this.isMoving = true
    // One pair is enough: the others differ for the same reason.
    if (isSuspicious && this.#isRetry && this.findings.length === 0) {
      const again = await this.collection.sendAgain(reference.request)
      const other = await this.collection.sendAgain(response.request)
      if (differenceOf(again, other) === undefined) return
      this.isMoving ||= again.digest !== reference.digest || other.digest !== response.digest
    }
    this.differs(response, difference.expected, difference.got)
  }

  /** A response that should be byte for byte another one, which `name` describes. */
  async compareBytes(reference: HttpResponse, response: HttpResponse, name: string): Promise<void> {
    if (response.status !== 200) return this.broken(response, `200 OK, as ${name}`, statusLine(response))
    await this.compare(reference, response, (before, after) =>
      before.digest === after.digest
        ? undefined
        : {
            expected: `the ${before.byteLength} bytes of ${name}`,
            got: `${after.byteLength} other bytes: ${after.beginning}`,
          },
    )
  }

  /** There is nothing to judge, for this reason; what was found before does not count. */
  skip(reason: string): void {
    this.findings = []
    this.skipReason = reason
  }

  /** Removes the findings that only say that there was no response. */
  forgetUnanswered(): void {
    this.findings = this.findings.filter(({ isUnanswered }) => !isUnanswered)
  }

  #add({ request, status }: Evidence, expected: string, got: string, isComparison: boolean, isDoubt: boolean): void {
    if (this.findings.filter((finding) => finding.isComparison === isComparison).length >= MAX_FINDINGS) return
    const texts = { expected: printable(expected), got: printable(got) }
    this.findings = [...this.findings, { request, isUnanswered: status === 0, ...texts, isComparison, isDoubt }]
  }
}

/** Text from a server must neither control a terminal nor fill it. */
function printable(text: string): string {
  return makeVisible(text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text)
}
