/** Writes to a collection and its items: `POST` appends, `PUT` creates or puts, `DELETE` drops or removes. */

import { allTags, namesPage, strongTags } from '../../contract/etag.ts'
import { KEY_FIELDS_RULE, keyFieldsFlaw } from '../../contract/key.ts'
import { collectionUrl, itemUrl } from '../../contract/link.ts'
import { quoted } from '../../contract/message-text.ts'
import { lastPage } from '../../contract/page.ts'
import { allows } from '../../contract/scope.ts'
import { keepsHistory } from '../../contract/state-tag.ts'
import type { ItemRun } from '../../items/item-run.ts'
import type { CollectionSettings, CollectionState, Head, ItemConditions } from '../../store/store.ts'
import { collectionOf, type HandlerContext, keyOf, segmentsOf } from '../handler-context.ts'
import { type Incoming, queryValues } from '../incoming.ts'
import { MAX_KEY_FIELD_LENGTH, MAX_SETTINGS_BYTES } from '../limits.ts'
import { collectionNotFound, Refusal, replaceHint } from '../problem-reply.ts'
import { DONE, outcome, type Reply } from '../reply.ts'
import { joined, readBody } from './read-body.ts'
import { readChanges } from './read-changes.ts'
import { readItems, readSingleItem } from './read-items.ts'
import { bodyTypeOf, onceOf, receiveItems, writeTarget } from './receive-write.ts'

/** The collection of a POST or PATCH. Unless a setting lets these create it, a typo in its name must not (D19). */
async function changeTarget(context: HandlerContext): Promise<{ name: string; head: Head | undefined }> {
  const { name, head } = await writeTarget(context)
  if (head === undefined && !context.createsOnWrite) throw collectionNotFound(name, creationHint(context.baseUrl, name))
  return { name, head }
}

function creationHint(baseUrl: string, name: string): { hint: string } {
  return { hint: `Check the name. To create it, PUT settings such as {"key":"id"} to ${collectionUrl(baseUrl, name)}` }
}

export async function postCollection(context: HandlerContext): Promise<Reply> {
  const { name, head } = await changeTarget(context)
  const { run, ...once } = await receiveItems(context, readItems, head?.keyField ?? null)
  const options = { ...once, ...(head === undefined ? { create: true } : { collectionId: head.id }) }
  const { live, version } = await context.store.append(name, run, options).catch((error: unknown) => {
    throw existingKey(error, run, context, name) ?? error
  })
  const [key] = run.keys ?? []
  const location = run.count === 1 && key !== undefined ? { Location: itemUrl(context.baseUrl, name, key) } : {}
  // A write makes a newer version than any before: this one was done before the request came.
  const isReplayed = once.once !== undefined && run.count > 0 && head !== undefined && version <= head.version
  const replayed = isReplayed ? { 'Idempotent-Replayed': 'true' } : {}
  return outcome(201, { appended: run.count, item_count: live, version }, { ...location, ...replayed })
}

/** Changes many items at once, in the order of the lines: all or nothing. */
export async function patchCollection(context: HandlerContext): Promise<Reply> {
  const { request, store, limits } = context
  const { name, head } = await changeTarget(context)
  const skipMissing = skipsMissing(request)
  const hint = 'Send changes with Content-Type: application/x-ndjson, and no Content-Encoding except gzip.'
  if (bodyTypeOf(request, { hint }) !== 'ndjson')
    throw new Refusal('unsupported-media-type', 'Changes must be sent as application/x-ndjson.', { hint })
  const onceFor = onceOf(context)
  const body = await readBody(context)
  const once = await onceFor(body)
  const changes = await readChanges(body, head?.keyField ?? null, limits)
  if ((head?.keyField ?? null) === null && changes.steps.some((key) => key !== null))
    throw new Refusal('conflict', `The collection ${quoted(name)} has no key field, so nothing can be deleted from it.`)
  const options = { ...once, ...(head === undefined ? { create: true } : { collectionId: head.id }), skipMissing }
  const patched = await store.patch(name, changes, options).catch((error: unknown) => {
    throw missingKey(error) ?? error
  })
  const { appended, replaced, deleted, head: after } = patched
  const isReplayed = head !== undefined && appended + replaced + deleted > 0 && after.version <= head.version
  const replayed = once.once !== undefined && isReplayed ? { 'Idempotent-Replayed': 'true' } : {}
  return outcome(200, { appended, replaced, deleted, item_count: after.live, version: after.version }, replayed)
}

function skipsMissing({ target }: Incoming): boolean {
  const values = queryValues(target, 'missing')
  if (values.length === 0) return false
  if (values.length === 1 && values[0] === 'skip') return true
  const hint = 'Ask for ?missing=skip, or leave the parameter out.'
  throw new Refusal('malformed-request', 'The parameter "missing" has an unknown value.', { hint })
}

/** Not 404, which would be about the collection. */
function missingKey(error: unknown): Refusal | undefined {
  const isOfItem = error instanceof Error && 'code' in error && error.code === 'no-item'
  const hint = 'Leave the line out, or ask for ?missing=skip to pass over keys that are not there.'
  return isOfItem ? new Refusal('conflict', error.message, { hint }) : undefined
}

/** A Refusal for a key that an item of the collection has already, or that is twice in the request. */
function existingKey(
  error: unknown,
  { count, keys = [] }: ItemRun,
  { request, baseUrl }: HandlerContext,
  name: string,
): Refusal | undefined {
  if (!(error instanceof Error && 'key' in error && typeof error.key === 'string')) return undefined
  const first = keys.indexOf(error.key)
  const second = keys.indexOf(error.key, first + 1)
  // Only elements of an array have a number that counts from 0.
  const isArray = bodyTypeOf(request) === 'json'
  if (second >= 0) {
    const places = isArray ? `Elements ${first} and ${second}` : `Items ${first + 1} and ${second + 1} of ${count}`
    return new Refusal('conflict', `${places}: the key ${quoted(error.key)} is in the request twice.`)
  }
  const place = isArray ? `Element ${first}` : `Item ${first + 1} of ${count}`
  const detail = count === 1 ? error.message : `${place}: ${error.message}`
  return new Refusal('conflict', detail, { hint: replaceHint(itemUrl(baseUrl, name, error.key)) })
}

export async function putCollection(context: HandlerContext): Promise<Reply> {
  const { request, store, limits, baseUrl } = context
  const { name } = await writeTarget(context)
  const hint = 'Send settings with Content-Type: application/json.'
  if (bodyTypeOf(request, { hint }) !== 'json')
    throw new Refusal('unsupported-media-type', 'Settings must be sent as application/json.', { hint })
  const onceFor = onceOf(context)
  const body = await readBody(context, Math.min(limits.bodyBytes, MAX_SETTINGS_BYTES))
  const { head, isNew } = await store.ensure(name, settingsOf(joined(body)), await onceFor(body))
  if (!isNew && request.headers.get('if-none-match')?.trim() === '*')
    throw new Refusal('precondition-failed', `There is already a collection ${quoted(name)}.`)
  const { keyField: key, isPaginated: paginated, isPrivate, live, version } = head
  const settings = { name, key, paginated, private: isPrivate, item_count: live, version }
  return outcome(isNew ? 201 : 200, settings, isNew ? { Location: collectionUrl(baseUrl, name) } : {})
}

/** The settings in a body. Throws a Refusal that says what is wrong with them. */
function settingsOf(body: Uint8Array): CollectionSettings {
  const { key = null, paginated = true, private: isPrivate = false, ...others } = parseObject(body)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw wrongSettings(`there is no setting ${quoted(unknown)}`)
  if (key !== null && !isKeyText(key))
    throw wrongSettings(`"key" must be ${KEY_FIELDS_RULE}; 1 to ${MAX_KEY_FIELD_LENGTH} characters in all, or null`)
  const flaw = key === null ? undefined : keyFieldsFlaw(key)
  if (flaw !== undefined) throw wrongSettings(`"key" is ${quoted(String(key))}: ${flaw}`)
  if (typeof paginated !== 'boolean') throw wrongSettings('"paginated" must be true or false')
  if (typeof isPrivate !== 'boolean') throw wrongSettings('"private" must be true or false')
  return { keyField: key, isPaginated: paginated, isPrivate }
}

function isKeyText(key: unknown): key is string {
  return typeof key === 'string' && key !== '' && key.length <= MAX_KEY_FIELD_LENGTH
}

function parseObject(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Not JSON: the same answer.
  }
  throw wrongSettings('expected one JSON object')
}

function wrongSettings(reason: string): Refusal {
  const hint = 'Send settings such as {"key":"id","paginated":true,"private":false}.'
  return new Refusal('invalid-body', `Invalid settings: ${reason}.`, { hint })
}

/** Only for a caller who has seen the collection as it is now. */
export async function deleteCollection(context: HandlerContext): Promise<Reply> {
  const { name, head } = await dropTarget(context)
  if (head?.origin)
    throw new Refusal('collection-mirrored', `The collection ${quoted(name)} is a mirror of ${head.origin.url}.`)
  const ifMatch = context.request.headers.get('if-match')
  if (ifMatch === null) throw new Refusal('precondition-required', 'Dropping a collection needs If-Match.')
  const options = await onceOf(context)()
  const state = namedState(context, head, ifMatch)
  if (state === undefined && options.once === undefined)
    throw head === undefined
      ? collectionNotFound(name)
      : new Refusal('precondition-failed', `No page of ${quoted(name)} has this ETag now.`)
  await context.store.drop(name, state ?? NO_STATE, options)
  return DONE
}

/** A repeated drop finds no collection, or a new one of that name: the store knows what was answered the first time. */
async function dropTarget(context: HandlerContext): Promise<{ name: string; head: Head | undefined }> {
  const { request, caller, store } = context
  const name = collectionOf(context)
  const mayBeRepeated = request.headers.has('idempotency-key') && allows(caller.scopes, 'write', name)
  return mayBeRepeated ? { name, head: await store.head(name) } : writeTarget(context)
}

/** The state of the collection, if If-Match names a page of it. */
function namedState({ baseUrl }: HandlerContext, head: Head | undefined, ifMatch: string): CollectionState | undefined {
  if (head === undefined) return undefined
  const { id, generation, version, commitId, isPaginated, live } = head
  const parts = { baseUrl, collectionId: id, generation, version, commitId, hasHistory: keepsHistory(head) }
  return namesPage(ifMatch, parts, isPaginated ? lastPage(live) : 0) ? { id, commitId } : undefined
}

/** A state that no collection ever has. */
const NO_STATE: CollectionState = { id: -1, commitId: '' }

export async function putItem(context: HandlerContext): Promise<Reply> {
  const { request, store } = context
  const { name, head, key } = await itemTarget(context)
  const { run, ...once } = await receiveItems(context, readSingleItem, head.keyField)
  const [own = ''] = run.keys ?? []
  if (own !== key) throw new Refusal('key-mismatch', `The path has the key ${quoted(key)}, the item ${quoted(own)}.`)
  const options = { ...once, collectionId: head.id }
  const { head: after, isNew, tag } = await store.put(name, run, conditionsOf(request), options)
  return outcome(isNew ? 201 : 200, { item_count: after.live, version: after.version }, { ETag: tag })
}

export async function deleteItem(context: HandlerContext): Promise<Reply> {
  const { name, head, key } = await itemTarget(context)
  const options = { ...(await onceOf(context)()), collectionId: head.id }
  await context.store.remove(name, key, conditionsOf(context.request), options)
  return DONE
}

/** The item to write. Throws a Refusal if there can be no such item. */
async function itemTarget(context: HandlerContext): Promise<{ name: string; head: Head; key: string }> {
  const { name, head } = await writeTarget(context)
  if (head === undefined) throw collectionNotFound(name, creationHint(context.baseUrl, name))
  if (head.keyField === null)
    throw new Refusal('conflict', `The collection ${quoted(name)} has no key field, so its items have no address.`)
  const key = keyOf(context)
  if (key !== undefined) return { name, head, key }
  const problem = context.request.method === 'PUT' ? 'key-mismatch' : 'item-not-found'
  throw new Refusal(problem, `The key ${quoted(segmentsOf(context)[1] ?? '')} is not percent-encoded UTF-8.`)
}

function conditionsOf({ headers }: Incoming): ItemConditions {
  const [ifMatch, ifNoneMatch] = [headers.get('if-match'), headers.get('if-none-match')]
  return {
    ...(ifMatch !== null && { ifMatch: ifMatch.trim() === '*' ? '*' : strongTags(ifMatch) }),
    ...(ifNoneMatch !== null && { ifNoneMatch: ifNoneMatch.trim() === '*' ? '*' : allTags(ifNoneMatch) }),
  }
}
