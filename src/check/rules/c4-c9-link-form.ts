/** C4 and C9: the form of page links, and of other links. */

import type { HttpResponse } from '../http/response.ts'
import { PAGE_RELATIONS } from '../page/document.ts'
import { isJsonObject, shown } from '../page/items.ts'
import type { Rule, RuleCheck } from '../rule.ts'
import { FAMILIAR_QUERY, responseWithUnknownParameter, sizeQueries } from '../shared-requests.ts'

export const C4: Rule = {
  id: 'C4',
  title:
    'first, prev, next and last are objects with one field, href: the collection’s own absolute URL, with at most ?page=<n>.',
  why: 'A client can follow a link as it is, from anywhere: a relative one needs a base, one to another host needs trust, and one with more parameters is another resource.',
  hurts: 'a client that follows links: it ends up elsewhere, or sends its token there.',
  right: '"next": {"href": "https://api.example.com/events?page=2"}',
  wrong: '"next": {"href": "/events?page=2&limit=500"}',
  scope: 'paginated',
  see: (check, { response }) => judgeLinks(check, response),
  /** Parameters that are not in the contract must not end up in a link. */
  async probe(check) {
    judgeLinks(check, await responseWithUnknownParameter(check))
    for (const query of [...sizeQueries(check), FAMILIAR_QUERY]) judgeLinks(check, await check.collection.query(query))
  },
}

function judgeLinks(check: RuleCheck, response: HttpResponse): void {
  const { collection } = check
  if (response.status !== 200) return
  for (const relation of PAGE_RELATIONS) {
    const link = collection.link(response.document, relation)
    if (link === undefined) continue
    const others =
      link.otherFields.length === 0 ? undefined : `has other fields beside href: ${shown(link.otherFields)}`
    const flaw = link.flaw ?? others
    const expected = `${relation} is {"href": "${collection.linkUrl}${relation === 'first' ? '' : '?page=<n>'}"}`
    if (flaw !== undefined) check.broken(response, expected, `${relation} ${flaw}`)
  }
}

export const C9: Rule = {
  id: 'C9',
  title: '_links may contain links other than the four; every entry is a link.',
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
