/** One rule on trial: where it finds the answers of the server, and where it says what it found. */

import { makeVisible } from '../contract/message-text.ts'
import type { Answer } from './answer.ts'
import type { Ask } from './ask.ts'
import type { Layout } from './layout.ts'
import type { Finding } from './rule.ts'
import type { Subject } from './subject.ts'

/** An answer, or the question alone where several answers make the case. */
export interface Evidence {
  readonly ask: Ask
  /** 0 where no answer came. */
  readonly status?: number
}

/** What is expected of an answer and what came; undefined where there is no difference. */
export type DifferenceOf = (reference: Answer, answer: Answer) => { expected: string; came: string } | undefined

/** Of each kind, so that a walk through a million broken pages ends with a report. */
const MAX_FINDINGS = 20

/** Of what was expected, and of what came. */
const MAX_CHARACTERS = 400

export class Trial {
  readonly subject: Subject
  readonly layout: Layout
  findings: readonly Finding[] = []
  skipReason: string | undefined
  /** Whether the data was seen to change while answers were compared. */
  isMoving = false
  /** Answers that look odd beside the others, to be asked about again. */
  readonly suspects: Answer[] = []
  /** Why the rule cannot be judged. */
  obstacle: string | undefined

  readonly #isRepetition: boolean

  /** `isRepetition`: the rule was tried before, and what it found may have been a change of the data. */
  constructor(subject: Subject, layout: Layout, isRepetition: boolean) {
    this.#isRepetition = isRepetition
    this.subject = subject
    this.layout = layout
  }

  /** The answer alone shows that the rule is broken. */
  broken(evidence: Evidence, expected: string, came: string): void {
    this.#add(evidence, expected, came, { isComparison: false, isDoubt: false })
  }

  /** The answer and another one together show it: unless the data changed between the two. */
  differs(evidence: Evidence, expected: string, came: string): void {
    this.#add(evidence, expected, came, { isComparison: true, isDoubt: false })
  }

  /**
   * Compares an answer with one that it should be like. Where even their counts differ, items may have come or gone in
   * between, and the rule is tried once more. If they differ then too, both are asked for again: what agrees at last was a
   * change of the data; what differs in the same way every time is the server's doing; anything else is data that moves.
   */
  async compare(reference: Answer, answer: Answer, differenceOf: DifferenceOf): Promise<void> {
    const difference = differenceOf(reference, answer)
    if (difference === undefined) return
    const counts = [reference, answer].flatMap(({ document }) => document?.count ?? [])
    const isSuspicious = counts.length === 2 && counts[0] !== counts[1]
    if (isSuspicious && !this.#isRepetition) this.isMoving = true
    // One pair is enough: the others differ for the same reason.
    if (isSuspicious && this.#isRepetition && this.findings.length === 0) {
      const again = await this.subject.askAgain(reference.ask)
      const other = await this.subject.askAgain(answer.ask)
      if (differenceOf(again, other) === undefined) return
      this.isMoving ||= again.digest !== reference.digest || other.digest !== answer.digest
    }
    this.differs(answer, difference.expected, difference.came)
  }

  /** Legal, but worth a look. */
  doubt(evidence: Evidence, expected: string, came: string): void {
    this.#add(evidence, expected, came, { isComparison: true, isDoubt: true })
  }

  /** The rule applies and cannot be judged, for this reason. */
  cannot(reason: string): void {
    this.obstacle = reason
  }

  /** There is nothing to judge, for this reason; what was found before does not count. */
  skip(reason: string): void {
    this.findings = []
    this.skipReason = reason
  }

  /** Takes back what was found because no answer came. */
  forgetUnanswered(): void {
    this.findings = this.findings.filter(({ isUnanswered }) => !isUnanswered)
  }

  #add(
    { ask, status }: Evidence,
    expected: string,
    came: string,
    kind: Pick<Finding, 'isComparison' | 'isDoubt'>,
  ): void {
    const texts = { expected: harmless(expected), came: harmless(came) }
    const sameKind = this.findings.filter(({ isComparison }) => isComparison === kind.isComparison)
    if (sameKind.length < MAX_FINDINGS)
      this.findings = [...this.findings, { ask, isUnanswered: status === 0, ...texts, ...kind }]
  }
}

/** What came from a server must neither steer a terminal nor fill it. */
function harmless(text: string): string {
  return makeVisible(text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text)
}
