/** C9: other links. */

import { PAGE_RELATIONS } from '../page/document.ts'
import { isJsonObject, shown } from '../page/json.ts'
import type { Rule } from '../rule.ts'

export const C9: Rule = {
  id: 'C9',
  title: '_links may hold other links beside the four; what stands there is a link.',
  why: 'There is room for more, such as self. The contract does not say what other links look like, so anything that is not a link by HAL only gives a warning.',
  hurts: 'a client that lists all links and expects an href in each.',
  right:
    '"_links": {"first": {…}, "last": {…}, "search": {"href": "https://api.example.com/search{?q}", "templated": true}}',
  wrong: '"_links": {"first": {…}, "last": {…}, "total": 3}',
  scope: 'envelope',
  see(check, { response, document }) {
    const pageRelations: readonly string[] = PAGE_RELATIONS
    for (const [relation, value] of document.links) {
      if (pageRelations.includes(relation)) continue
      const links = Array.isArray(value) ? value : [value]
      if (!links.every((link) => isJsonObject(link) && typeof link['href'] === 'string'))
        check.doubt(response, `${relation} is a link or an array of links, each with an href`, shown(value))
    }
  },
}
