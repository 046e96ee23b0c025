/** C9: other links. */

import type { Answer } from '../answer.ts'
import { PAGE_RELATIONS } from '../document.ts'
import { isJsonObject, shown } from '../json-kind.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const C9: Rule = {
  id: 'C9',
  title: '_links may hold other links beside the four; what stands there is a link.',
  why: 'There is room for more, such as self. The document does not say what other links look like, so what is no link by HAL only gives a warning.',
  hurts: 'a client that lists all links and expects an href in each.',
  right:
    '"_links": {"first": {…}, "last": {…}, "search": {"href": "https://api.example.com/search{?q}", "templated": true}}',
  wrong: '"_links": {"first": {…}, "last": {…}, "total": 3}',
  scope: 'envelope',
  watch: (trial) => ({ see: (answer) => judgeOthers(trial, answer) }),
}

function judgeOthers(trial: Trial, answer: Answer): void {
  const pageRelations: readonly string[] = PAGE_RELATIONS
  for (const [relation, value] of answer.document?.links ?? []) {
    if (pageRelations.includes(relation)) continue
    const links = Array.isArray(value) ? value : [value]
    if (!links.every((link) => isJsonObject(link) && typeof link['href'] === 'string'))
      trial.doubt(answer, `${relation} is a link or an array of links, each with an href`, shown(value))
  }
}
