/** D1: the first page. */

import type { Rule } from '../rule.ts'
import { compareBytes } from '../same-bytes.ts'

export const D1: Rule = {
  id: 'D1',
  title: 'Pages count from 1: no page, an empty page and page=1 answer the same bytes.',
  why: 'first carries no parameter, so the bare URL is page 1. An empty parameter is what a form with an empty field sends.',
  hurts: 'a client that asks for page 1 by its number: it gets the second page, or an error.',
  right: 'GET /events, /events?page= and /events?page=1 → the same bytes',
  wrong: 'GET /events?page=1 → the items 501 to 1000, because pages count from 0',
  scope: 'paginated',
  async probe(trial) {
    const { subject, layout } = trial
    for (const query of ['page=1', 'page='])
      await compareBytes(trial, layout.bare, await subject.query(query), 'the bare URL')
  },
}
