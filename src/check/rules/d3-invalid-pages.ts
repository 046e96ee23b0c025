/** D3: what is not a page number. */

import { statusLine } from '../answer.ts'
import { INVALID_PAGES } from '../questions.ts'
import type { Rule } from '../rule.ts'

export const D3: Rule = {
  id: 'D3',
  title: 'What is not a page number is a 400: 0, -1, +1, 1.5, 1e3, abc, a blank, other digits, page given twice.',
  why: 'Taking nonsense for page 1 hides a mistake of the client, which then reads the first page over and over.',
  hurts: 'a client with a bug: nobody tells it.',
  right: 'GET /events?page=abc → 400, with the parameter and the value in the answer',
  wrong: 'GET /events?page=abc → 200 with page 1',
  scope: 'paginated',
  async probe(trial) {
    const answers = await Promise.all(INVALID_PAGES.map((value) => trial.subject.query(`page=${value}`)))
    for (const answer of answers) if (answer.status !== 400) trial.broken(answer, '400 Bad Request', statusLine(answer))
  },
}
