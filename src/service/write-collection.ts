/** `POST /<collection>` appends items, `PUT /<collection>` creates the collection. */

import { collectionUrl, itemUrl } from '../contract/link.ts'
import type { ItemRun } from '../items/item-run.ts'
import { joined } from './body.ts'
import { bodyTypeOf } from './body-type.ts'
import type { Call } from './call.ts'
import { SETTINGS_BYTES, settingsOf } from './collection-settings.ts'
import { onceOf } from './idempotency.ts'
import { quoted } from './problem-response.ts'
import { receiveItems } from './received-items.ts'
import { Refusal } from './refusal.ts'
import type { Reply } from './reply.ts'
import { readBody } from './request-body.ts'
import { readItemsOf } from './request-items.ts'
import { writeTarget } from './write-target.ts'
import { written } from './written.ts'

export async function postCollection(call: Call): Promise<Reply> {
  const { name, head, state } = await writeTarget(call)
  const { run, ...once } = await receiveItems(call, readItemsOf, head?.keyField ?? null)
  const expected = head === undefined ? {} : { collectionId: head.id }
  const options = { ...once, ...expected, create: state === 'is created' }
  const { live, version } = await call.store.append(name, run, options).catch((error: unknown) => {
    throw repeatedKey(error, run) ?? error
  })
  const [key] = run.keys ?? []
  const location = run.count === 1 && key !== undefined ? { Location: itemUrl(call.baseUrl, name, key) } : {}
  return written(201, { appended: run.count, item_count: live, version }, location)
}

/** A Refusal for a key that conflicts with another one of the same request, which is not in the collection. */
function repeatedKey(error: unknown, { keys = [] }: ItemRun): Refusal | undefined {
  if (!(error instanceof Error && 'key' in error && typeof error.key === 'string')) return undefined
  const first = keys.indexOf(error.key)
  const second = keys.indexOf(error.key, first + 1)
  if (second < 0) return undefined
  const detail = `The key ${quoted(error.key)} stands in the request twice, in the items ${first} and ${second}, counted from 0.`
  return new Refusal('conflict', detail)
}

export async function putCollection(call: Call): Promise<Reply> {
  const { request, store, limits, baseUrl } = call
  const { name } = await writeTarget(call)
  if (bodyTypeOf(request) !== 'json')
    throw new Refusal('unsupported-media-type', 'Settings are sent as application/json.')
  const onceFor = onceOf(call)
  const body = await readBody(call, Math.min(limits.bodyBytes, SETTINGS_BYTES))
  const { head, isNew } = await store.ensure(name, settingsOf(joined(body)), await onceFor(body))
  if (!isNew && request.headers.get('if-none-match')?.trim() === '*')
    throw new Refusal('precondition-failed', `There is a collection ${quoted(name)} already.`)
  const { keyField: key, isPaginated: paginated, isPrivate, live, version } = head
  const settings = { name, key, paginated, private: isPrivate, item_count: live, version }
  return written(isNew ? 201 : 200, settings, isNew ? { Location: collectionUrl(baseUrl, name) } : {})
}
