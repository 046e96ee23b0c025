/** Reads pages for those rules that look at each of them: a sample, or all. */

import type { Answer } from './answer.ts'
import { type Layout, samplePages } from './layout.ts'
import { LimitReached } from './requester.ts'
import type { Subject } from './subject.ts'

/** The bare answer, then the sampled pages, if there are any, in ascending order, each with the number that was asked for. */
export async function* readSample(subject: Subject, layout: Layout): AsyncGenerator<[Answer, number]> {
  yield [layout.bare, 1]
  if (layout.kind !== 'paginated') return
  const pages = samplePages(layout.last ?? 1)
  const answers = await Promise.all(pages.map((page) => subject.page(page)))
  for (const [index, answer] of answers.entries()) yield [answer, pages[index] ?? 1]
}

/** A walk ends after so many pages without an answer: the others would take as long. */
const MAX_UNANSWERED = 5

/** The bare answer, then every page, in ascending order, with `concurrency` of them under way. */
export async function* readAll(
  subject: Subject,
  layout: Layout,
  concurrency: number,
): AsyncGenerator<[Answer, number]> {
  yield [layout.bare, 1]
  if (layout.kind !== 'paginated') return
  const last = layout.last ?? 1
  const underWay: Promise<Answer>[] = []
  let next = 1
  let unanswered = 0
  for (let page = 1; page <= last; page++) {
    while (next <= last && underWay.length < concurrency) {
      const answer = subject.askAside(subject.askPage(next++))
      // It is waited for in its turn; a failure before that is not unhandled.
      answer.catch(() => {})
      underWay.push(answer)
    }
    const answer = await underWay.shift()
    if (answer === undefined) return
    yield [answer, page]
    unanswered = answer.status === 0 ? unanswered + 1 : 0
    if (unanswered === MAX_UNANSWERED) throw new LimitReached(`${unanswered} pages in a row had no answer`)
  }
}
