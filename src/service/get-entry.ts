/** `GET /`: the entry point, a HAL document that links and counts every collection that can be read. */

import { collectionUrl, entryUrl } from '../contract/link.ts'
import { isReadable } from './access.ts'
import { foundByContent } from './answer.ts'
import type { Call } from './call.ts'
import { chooseEnvelopeType } from './negotiate.ts'

/** Each collection is linked and embedded under one relation, so that a client finds the link whether or not it looks into `_embedded`. */
export async function getEntry({ request, store, baseUrl }: Call): Promise<Response> {
  const heads = (await store.collections()).filter(isReadable)
  const entry = {
    _links: {
      self: { href: entryUrl(baseUrl) },
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
  return foundByContent(request, body, chooseEnvelopeType(request.headers.get('accept')))
}
