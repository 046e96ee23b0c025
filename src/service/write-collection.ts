/** Writes to a collection as a whole: `POST` appends, `PUT` creates, `DELETE` drops. */

import { namesPage } from '../contract/etag.ts'
import { collectionUrl, itemUrl } from '../contract/link.ts'
import { isCollectionName, NAME_RULE } from '../contract/name.ts'
import { lastPage } from '../contract/page.ts'
import type { CollectionSettings, Head } from '../store/store.ts'
import { requireWrite } from './access.ts'
import { type Call, segmentsOf } from './call.ts'
import { onceOf } from './idempotency.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'
import { readBody } from './request-body.ts'
import { bodyTypeOf, readItemsOf } from './request-items.ts'
import { written } from './written.ts'

export async function postCollection(call: Call): Promise<Response> {
  const { request, store, limits, baseUrl } = call
  const { name, head, state } = await target(call)
  const type = bodyTypeOf(request)
  const body = await readBody(request, limits.bodyBytes)
  const keyField = head?.keyField ?? null
  const run = await readItemsOf(body, type, keyField, limits)
  const expected = head === undefined ? {} : { collectionId: head.id }
  const options = { ...onceOf(call, body), ...expected, create: state === 'is created' }
  const { live, version } = await store.append(name, run, options)
  const [key] = run.keys ?? []
  const location = run.count === 1 && key !== undefined ? { Location: itemUrl(baseUrl, name, key) } : {}
  return written(201, { appended: run.count, item_count: live, version }, location)
}

export async function putCollection(call: Call): Promise<Response> {
  const { request, store, limits, baseUrl } = call
  const { name } = await target(call)
  if (bodyTypeOf(request) !== 'json')
    throw new Refusal('unsupported-media-type', 'Settings are sent as application/json.')
  const body = await readBody(request, limits.bodyBytes)
  const { head, isNew } = await store.ensure(name, settingsOf(body), onceOf(call, body))
  const { keyField: key, isPaginated: paginated, isPrivate, live, version } = head
  const settings = { name, key, paginated, private: isPrivate, item_count: live, version }
  return written(isNew ? 201 : 200, settings, isNew ? { Location: collectionUrl(baseUrl, name) } : {})
}

export async function deleteCollection(call: Call): Promise<Response> {
  const { request, store, baseUrl } = call
  const { name, head } = await target(call)
  if (head === undefined) throw new Refusal('collection-not-found', `There is no collection ${quoted(name)}.`)
  const ifMatch = request.headers.get('if-match')
  if (ifMatch === null) throw new Refusal('precondition-required', 'Dropping a collection needs If-Match.')
  const { id, generation, version, isPaginated, live } = head
  const state = { baseUrl, collectionId: id, generation, version }
  if (!namesPage(ifMatch, state, isPaginated ? lastPage(live) : 0))
    throw new Refusal('precondition-failed', `No page of ${quoted(name)} has this ETag now.`)
  await store.drop(name, { id, generation, version }, onceOf(call, ''))
  return new Response(null, { status: 204 })
}

/** The collection that is to be written, if the caller may. */
async function target(call: Call): Promise<{ name: string; head: Head | undefined; state: 'exists' | 'is created' }> {
  const [name = ''] = segmentsOf(call)
  const head = isCollectionName(name) ? await call.store.head(name) : undefined
  const state = requireWrite(call.caller, name, head)
  if (!isCollectionName(name)) throw new Refusal('invalid-name', `${quoted(name)} is not ${NAME_RULE}.`)
  return { name, head, state }
}

function settingsOf(body: Uint8Array): CollectionSettings {
  const settings = parseObject(body)
  const unknown = Object.keys(settings).find((field) => !['key', 'paginated', 'private'].includes(field))
  if (unknown !== undefined) throw wrongSettings(`there is no setting ${quoted(unknown)}`)
  const { key = null, paginated = true, private: isPrivate = false } = settings
  if (key !== null && (typeof key !== 'string' || key === ''))
    throw wrongSettings('"key" is the name of a field, or null')
  if (typeof paginated !== 'boolean') throw wrongSettings('"paginated" is true or false')
  if (typeof isPrivate !== 'boolean') throw wrongSettings('"private" is true or false')
  return { keyField: key, isPaginated: paginated, isPrivate }
}

function parseObject(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Not JSON: the same answer.
  }
  throw wrongSettings('they are one JSON object')
}

function wrongSettings(reason: string): Refusal {
  const hint = 'Send settings such as {"key":"id","paginated":true,"private":false}.'
  return new Refusal('invalid-body', `These settings cannot be used: ${reason}.`, { hint })
}
