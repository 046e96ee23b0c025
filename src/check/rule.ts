/** What a rule of the checker is made of. Each stands in a file of its own in `rules/`. */

import type { Answer } from './answer.ts'
import type { Ask } from './ask.ts'
import type { Trial } from './trial.ts'

export type RuleId =
  | `C${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10}`
  | `D${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17}`

export interface Rule {
  readonly id: RuleId
  /** One sentence: what holds where the rule is kept. */
  readonly title: string
  /** Why the rule exists. */
  readonly why: string
  /** Who is hurt where it is broken, in words that follow "hurts:". */
  readonly hurts: string
  /** An answer that keeps the rule, and one that breaks it. */
  readonly right: string
  readonly wrong: string
  /** What it needs: any answer, even one that is not 200; a 200; an envelope; one with pages, or one without. */
  readonly scope: 'answer' | '200' | 'envelope' | 'paginated' | 'unpaginated'
  /** Whether it asks for pages by numbers that count from 1: it cannot be tried where they count from 0 (D1). */
  readonly countsFromOne?: true
  /** Whether it is broken by a server whose every reading differs; others cannot be judged then. */
  readonly needsStillness?: true
  /** Looks at the pages that the run reads, one after the other. */
  readonly watch?: (trial: Trial) => Watcher
  /** Asks questions of its own. */
  readonly probe?: (trial: Trial) => Promise<void>
  /** Looks at all answers of the run, after every other rule has asked its questions. */
  readonly review?: (trial: Trial, answers: readonly Answer[]) => void
}

export interface Watcher {
  /** `asked` is the number of the page that was asked for. Pages come in ascending order. */
  see(answer: Answer, asked: number): void
  /** After the last one. */
  end?(): void
}

/** One way in which a rule is broken, or may be. */
export interface Finding {
  readonly ask: Ask
  /** Whether no answer came at all. */
  readonly isUnanswered: boolean
  readonly expected: string
  readonly came: string
  /** Whether the answer is wrong only beside another one, so that a change of the data in between would explain it. */
  readonly isComparison: boolean
  /** Whether the rule is broken, or something merely looks odd. */
  readonly isDoubt: boolean
}
