/** What the service says about itself: the entry point with all collections, its health, and what its problems mean. */

import { collectionUrl, descriptionUrl, entryUrl, problemUrl } from '../../contract/link.ts'
import { isProblemName, PROBLEMS } from '../../contract/problem.ts'
import type { ListedHead } from '../../store/store.ts'
import { mayRead } from '../access.ts'
import { type HandlerContext, segmentsOf } from '../handler-context.ts'
import { chooseEnvelopeType } from '../negotiate.ts'
import { pathNotFound } from '../problem-reply.ts'
import { type Caching, foundByContent, outcome, PRIVATE, PUBLIC, type Reply } from '../reply.ts'

/**
 * `GET /`, a HAL document. Each collection is linked and embedded under one relation, so that a client finds the link whether
 * or not it looks into `_embedded`.
 */
export async function getEntry(context: HandlerContext): Promise<Reply> {
  const { request, baseUrl, store, caller } = context
  const { heads, away } = await store.reachable()
  const isComplete = away.length === 0
  const seen = heads.map((head) => mayRead(caller, head))
  const entries = ENTRIES.get(heads) ?? new Map<string, Uint8Array>()
  ENTRIES.set(heads, entries)
  const key = `${baseUrl} ${isComplete} ${seen.includes(false) ? seen.join() : ''}`
  const body =
    entries.get(key) ??
    entryBody(
      baseUrl,
      heads.filter((_, index) => seen[index]),
      isComplete,
    )
  entries.set(key, body)
  const type = chooseEnvelopeType(request.headers.get('accept'))
  return foundByContent(request, body, type, entryCaching(context))
}

/** Entries of the lists that stores gave, by what each shows. Callers who ask at the same time are given the same list. */
const ENTRIES = new WeakMap<readonly ListedHead[], Map<string, Uint8Array>>()

function entryBody(baseUrl: string, heads: readonly ListedHead[], isComplete: boolean): Uint8Array {
  const entry = {
    // Part of the store cannot be reached: there may be more.
    ...(isComplete ? {} : { incomplete: true }),
    _links: {
      self: { href: entryUrl(baseUrl) },
      // RFC 8631.
      'service-desc': { href: descriptionUrl(baseUrl) },
      collections: heads.map(({ name }) => ({ href: collectionUrl(baseUrl, name), name })),
    },
    _embedded: {
      collections: heads.map(({ name, live, isPaginated, isPrivate, keyField, changedAt, origin }) => ({
        name,
        item_count: live,
        paginated: isPaginated,
        private: isPrivate,
        key: keyField,
        changed_at: changedAt === null ? null : new Date(changedAt).toISOString(),
        mirrors: origin?.url ?? null,
        _links: { self: { href: collectionUrl(baseUrl, name) } },
      })),
    },
  }
  return Buffer.from(`${JSON.stringify(entry, null, 2)}\n`)
}

export async function readableHeads({
  store,
  caller,
}: HandlerContext): Promise<{ heads: ListedHead[]; isComplete: boolean }> {
  const { heads, away } = await store.reachable()
  return { heads: heads.filter((head) => mayRead(caller, head)), isComplete: away.length === 0 }
}

/** With a token, the entry can show what others may not see. */
export function entryCaching({ caller, requiresToken }: HandlerContext): Caching {
  return caller.isKnown || requiresToken ? PRIVATE : PUBLIC
}

/** `GET /-/health`: whether the store can be read now; if not, it fails like any other request. */
export async function getHealth({ store }: HandlerContext): Promise<Reply> {
  const away = await store.ping()
  // Does not name servers: anybody may ask.
  return outcome(200, { status: away.length === 0 ? 'ok' : 'degraded' })
}

/** `GET /-/problems/<name>`: what the `type` of a problem leads to (D14). */
export function getProblem(context: HandlerContext): Reply {
  const [, , name = ''] = segmentsOf(context)
  if (!isProblemName(name)) throw pathNotFound(context)
  const description = { type: problemUrl(context.baseUrl, name), ...PROBLEMS[name] }
  const body = Buffer.from(`${JSON.stringify(description, null, 2)}\n`)
  return foundByContent(context.request, body, 'application/json', PUBLIC)
}
