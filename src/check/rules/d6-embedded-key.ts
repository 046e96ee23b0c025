/** D6: where the items are. */

import type { Answer } from '../answer.ts'
import { shown } from '../json-kind.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D6: Rule = {
  id: 'D6',
  title: '_embedded holds exactly one array, under the name of the collection.',
  why: 'So a client finds the items of any collection without being told where they are.',
  hurts: 'a client for all collections: it has to guess which array holds the items.',
  right: 'GET /events → "_embedded": {"events": […]}',
  wrong: 'GET /events → "_embedded": {"items": […], "warnings": []}',
  scope: 'envelope',
  watch: (trial) => ({ see: (answer) => judgeKey(trial, answer) }),
}

function judgeKey(trial: Trial, answer: Answer): void {
  const { document } = answer
  // No _embedded at all is C1's matter, and an empty one in an empty collection D5's.
  if (document?.embeddedKind !== 'an object' || (document.count === 0 && document.arrays.length === 0)) return
  const { name } = trial.subject
  const expected = `one array in _embedded, "${name}"`
  const came = document.arrays.length === 0 ? `no array among ${shown(document.embedded)}` : shown(document.arrays)
  if (document.arrays.length !== 1 || document.arrays[0] !== name) trial.broken(answer, expected, came)
}
