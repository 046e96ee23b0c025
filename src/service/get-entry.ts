/** `GET /`: the entry point, a HAL document that links and counts every collection that can be read. */

import { collectionUrl, descriptionUrl, entryUrl } from '../contract/link.ts'
import type { ListedHead } from '../store/store.ts'
import { mayRead } from './access.ts'
import { type Caching, foundByContent, PRIVATE, PUBLIC } from './answer.ts'
import type { Call } from './call.ts'
import { chooseEnvelopeType } from './negotiate.ts'
import type { Reply } from './reply.ts'

/** Each collection is linked and embedded under one relation, so that a client finds the link whether or not it looks into `_embedded`. */
export async function getEntry(call: Call): Promise<Reply> {
  const { request, baseUrl } = call
  const { heads, isComplete } = await readableHeads(call)
  const entry = {
    // Part of the store is away: there may be more.
    ...(isComplete ? {} : { incomplete: true }),
    _links: {
      self: { href: entryUrl(baseUrl) },
      // RFC 8631.
      'service-desc': { href: descriptionUrl(baseUrl) },
      collections: heads.map(({ name }) => ({ href: collectionUrl(baseUrl, name), name })),
    },
    _embedded: {
      collections: heads.map(({ name, live, isPaginated, isPrivate, keyField, changedAt }) => ({
        name,
        item_count: live,
        paginated: isPaginated,
        private: isPrivate,
        key: keyField,
        changed_at: changedAt === null ? null : new Date(changedAt).toISOString(),
        _links: { self: { href: collectionUrl(baseUrl, name) } },
      })),
    },
  }
  const body = Buffer.from(`${JSON.stringify(entry, null, 2)}\n`)
  const type = chooseEnvelopeType(request.headers.get('accept'))
  return foundByContent(request, body, type, entryCaching(call))
}

export async function readableHeads({ store, caller }: Call): Promise<{ heads: ListedHead[]; isComplete: boolean }> {
  const { heads, away } = await store.reachable()
  return { heads: heads.filter((head) => mayRead(caller, head)), isComplete: away.length === 0 }
}

/** With a token, the entry shows what others do not see. */
export function entryCaching({ caller, requiresToken }: Call): Caching {
  return caller.isKnown || requiresToken ? PRIVATE : PUBLIC
}
