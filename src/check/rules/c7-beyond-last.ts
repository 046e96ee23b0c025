/** C7: beyond the last page. */

import { type Answer, statusLine } from '../answer.ts'
import { pagesBeyond } from '../questions.ts'
import type { Rule } from '../rule.ts'
import type { DifferenceOf, Trial } from '../trial.ts'

export const C7: Rule = {
  id: 'C7',
  title: 'A page beyond the last one is answered exactly as the last one: same status, same bytes, same ETag.',
  why: 'A collection can shrink between two requests. Who asks for a page that is no longer there gets the last one, whatever the number, and a cache may keep one copy for all of them.',
  hurts:
    'a client that asks for a page that has just gone, or for the last one by a large number: an error, a wrong page or an endless crawl.',
  right: 'GET /events?page=9007199254740993 of 1234 items → byte for byte what /events?page=3 answers',
  wrong: 'GET /events?page=4 of 1234 items → 404, an empty page, or page 1',
  scope: 'paginated',
  countsFromOne: true,
  needsStillness: true,
  async probe(trial) {
    const { subject, layout } = trial
    if (layout.last === undefined) return trial.skip('it is not known which page is the last one (C2, C5)')
    const last = await subject.page(layout.last)
    if (last.status !== 200) return trial.skip(`page ${layout.last}, the last one, does not answer 200 (C1)`)
    const answers = await Promise.all(pagesBeyond(layout.last).map((page) => subject.page(page)))
    for (const answer of answers) await judge(trial, layout.last, last, answer)
  },
}

async function judge(trial: Trial, page: number, last: Answer, beyond: Answer): Promise<void> {
  const differenceOf: DifferenceOf = (before, after) => {
    const pair = whatDiffers(before, after)
    return pair && { expected: `as page ${page}: ${pair[0]}`, came: pair[1] }
  }
  const difference = differenceOf(last, beyond)
  // Another status is no matter of changed data.
  if (difference !== undefined && beyond.status !== last.status)
    trial.broken(beyond, difference.expected, difference.came)
  else await trial.compare(last, beyond, differenceOf)
}

/** What is expected and what came; undefined where there is no difference. */
function whatDiffers(last: Answer, beyond: Answer): [expected: string, came: string] | undefined {
  if (beyond.status !== last.status) return [statusLine(last), statusLine(beyond)]
  if (beyond.digest !== last.digest)
    return [
      `${last.byteLength} bytes with ${contentsOf(last)}`,
      `${beyond.byteLength} bytes with ${contentsOf(beyond)}`,
    ]
  for (const name of ['ETag', 'Last-Modified', 'Content-Type', 'Cache-Control']) {
    const [before, after] = [last.headers.get(name), beyond.headers.get(name)]
    if (before !== after) return [`${name}: ${before ?? 'none'}`, `${name}: ${after ?? 'none'}`]
  }
  return undefined
}

function contentsOf({ document, beginning }: Answer): string {
  const self = document?.links.get('self')
  if (document?.items === undefined) return beginning
  return `${document.items.count} items${self === undefined ? '' : ` and self ${JSON.stringify(self)}`}`
}
