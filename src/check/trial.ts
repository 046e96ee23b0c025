/** One rule on trial: where it finds the answers of the server, and where it says what it found. */

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

export class Trial {
  readonly subject: Subject
  readonly layout: Layout
  readonly findings: Finding[] = []
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

  /** There is nothing to judge, for this reason. */
  skip(reason: string): void {
    this.skipReason = reason
  }

  #add(
    { ask, status }: Evidence,
    expected: string,
    came: string,
    kind: Pick<Finding, 'isComparison' | 'isDoubt'>,
  ): void {
    this.findings.push({ ask, isUnanswered: status === 0, expected, came, ...kind })
  }
}
