/** D9: items are objects. */

import type { Answer } from '../answer.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D9: Rule = {
  id: 'D9',
  title: 'Every item is a JSON object.',
  why: 'An object can gain a field later; a number or a text cannot. That items come back byte for byte cannot be seen from outside.',
  hurts: 'a client that reads a field of each item.',
  right: '"_embedded": {"events": [{"id": 1}, {"id": 2}]}',
  wrong: '"_embedded": {"events": [1, 2, null]}',
  scope: 'envelope',
  watch: (trial) => ({ see: (answer) => judgeItems(trial, answer) }),
}

function judgeItems(trial: Trial, answer: Answer): void {
  const stranger = answer.document?.items?.stranger
  if (stranger !== undefined) trial.broken(answer, 'objects', `item ${stranger.index + 1} is ${stranger.kind}`)
}
