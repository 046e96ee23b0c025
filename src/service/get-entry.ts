/** `GET /`: the entry point, a HAL document that links and counts every collection that can be read. */

import { collectionUrl, descriptionUrl, entryUrl } from '../contract/link.ts'
import { mayRead } from './access.ts'
import { foundByContent, PRIVATE } from './answer.ts'
import type { Call } from './call.ts'
import { chooseEnvelopeType } from './negotiate.ts'
import type { Reply } from './reply.ts'

/** Each collection is linked and embedded under one relation, so that a client finds the link whether or not it looks into `_embedded`. */
export async function getEntry(call: Call): Promise<Reply> {
  const { request, store, baseUrl, caller } = call
  const heads = (await store.collections()).filter((head) => mayRead(caller, head))
  const entry = {
    _links: {
      self: { href: entryUrl(baseUrl) },
      // RFC 8631.
      'service-desc': { href: descriptionUrl(baseUrl) },
      collections: heads.map(({ name }) => ({ href: collectionUrl(baseUrl, name), name })),
    },
    _embedded: {
      collections: heads.map(({ name, live, isPaginated }) => ({
        name,
        item_count: live,
        paginated: isPaginated,
        _links: { self: { href: collectionUrl(baseUrl, name) } },
      })),
    },
  }
  const body = Buffer.from(`${JSON.stringify(entry, null, 2)}\n`)
  const isShared = !caller.isKnown && !call.requiresToken
  const type = chooseEnvelopeType(request.headers.get('accept'))
  return foundByContent(request, body, type, isShared ? {} : PRIVATE)
}
