/** One rule on trial: where it finds the answers of the server, and where it says what it found. */

import { makeVisible } from '../contract/excerpt.ts'
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

/** Of each kind, so that a walk through a million broken pages ends with a report. */
const MOST_FINDINGS = 20

/** Of what was expected, and of what came. */
const MOST_CHARACTERS = 400

export class Trial {
  readonly subject: Subject
  readonly layout: Layout
  findings: readonly Finding[] = []
  skipReason: string | undefined

  constructor(subject: Subject, layout: Layout) {
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

  /** Legal, but worth a look. */
  doubt(evidence: Evidence, expected: string, came: string): void {
    this.#add(evidence, expected, came, { isComparison: true, isDoubt: true })
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
    if (sameKind.length < MOST_FINDINGS)
      this.findings = [...this.findings, { ask, isUnanswered: status === 0, ...texts, ...kind }]
  }
}

/** What came from a server must neither steer a terminal nor fill it. */
function harmless(text: string): string {
  return makeVisible(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text)
}
