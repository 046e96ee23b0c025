/** C6: `page` picks the page. */

import type { Answer } from '../answer.ts'
import { expectedLast, positionOf } from '../layout.ts'
import { PageMemory } from '../page-memory.ts'
import type { Rule, Watcher } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const C6: Rule = {
  id: 'C6',
  title: 'The parameter page picks the page: asked for page 2, the server answers page 2.',
  why: 'Pages by number are what lets a client read them in any order, many at a time, or only the last one.',
  hurts: 'whoever asks for a page and gets another one, without any sign of it.',
  right: 'GET /events?page=2 → the items 501 to 1000',
  wrong: 'GET /events?page=2 → the items 1 to 500',
  scope: 'paginated',
  countsFromOne: true,
  watch: (trial) => new PageWatcher(trial),
}

class PageWatcher implements Watcher {
  readonly #trial: Trial
  readonly #memory = new PageMemory()

  constructor(trial: Trial) {
    this.#trial = trial
  }

  see(answer: Answer, asked: number): void {
    const { status, document } = answer
    if (status !== 200 || document === undefined) return
    const position = positionOf(answer, asked, this.#trial.subject)
    // Where items were removed meanwhile, the page may be beyond the last one by its own count, which then stands in (C7).
    const page = Math.min(asked, expectedLast(this.#trial.layout, document) ?? asked)
    if (position !== page) this.#trial.broken(answer, `page ${page}`, `its links are those of page ${position}`)
    const { items } = document
    const earlier = items === undefined || page !== asked ? undefined : this.#memory.earlier(asked, items)
    if (items !== undefined && earlier !== undefined)
      this.#trial.differs(answer, `other items than on page ${earlier}`, `the same ${items.count} items`)
  }
}
