/** What a write begins with: the collection that it is for, its idempotency key, and the items that come with it. */

import { createHash, hash } from 'node:crypto'
import { quoted } from '../../contract/message-text.ts'
import { isCollectionName, NAME_RULE } from '../../contract/name.ts'
import type { ItemRun } from '../../items/item-run.ts'
import type { Head, Once } from '../../store/store.ts'
import { hasNoScope, requireWrite } from '../access.ts'
import { collectionOf, type HandlerContext } from '../handler-context.ts'
import type { Incoming } from '../incoming.ts'
import { type ProblemOptions, Refusal } from '../problem-reply.ts'
import { type Body, inTurns, readBody } from './read-body.ts'
import type { BodyType, ReadItems } from './read-items.ts'

/** The collection to write to. Throws a Refusal if the caller may not write to it, or the name is invalid. */
export async function writeTarget(context: HandlerContext): Promise<{ name: string; head: Head | undefined }> {
  const { store, caller } = context
  const name = collectionOf(context)
  const options = { isPublicOnly: hasNoScope(caller, name) }
  const head = isCollectionName(name) ? await store.head(name, options) : undefined
  requireWrite(caller, name, head, context.request.method !== 'DELETE')
  if (!isCollectionName(name)) throw new Refusal('invalid-name', `${quoted(name)} is not ${NAME_RULE}.`)
  return { name, head }
}

/** Throws a Refusal for what cannot be accepted. The headers are checked before the body is read. */
export async function receiveItems(
  context: HandlerContext,
  read: ReadItems,
  keyField: string | null,
): Promise<{ run: ItemRun; once?: Once }> {
  const { limits } = context
  const type = bodyTypeOf(context.request)
  const onceFor = onceOf(context)
  const body = await readBody(context)
  const once = await onceFor(body)
  return { run: await read(body, type, keyField, limits), ...once }
}

const BODY_TYPES: ReadonlyMap<string, BodyType> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
])

/** JSON is UTF-8; other parameters of a type do not matter. */
const OTHER_CHARSET = /^charset=(?!"?(utf-?8|us-ascii)"?$)/

/** Throws a Refusal for a type that is not accepted, or a charset other than UTF-8. */
export function bodyTypeOf(request: Incoming, options?: ProblemOptions): BodyType {
  const given = request.headers.get('content-type')
  if (given === null) throw new Refusal('unsupported-media-type', 'There is no Content-Type.', options)
  const [name = '', ...parameters] = given.split(';').map((part) => part.trim().toLowerCase())
  const type = BODY_TYPES.get(name)
  if (type === undefined || parameters.some((parameter) => OTHER_CHARSET.test(parameter)))
    throw new Refusal('unsupported-media-type', `The Content-Type is ${JSON.stringify(given.slice(0, 100))}.`, options)
  return type
}

/**
 * What the store needs to do a write with an `Idempotency-Key` only once: computed from the unpacked body, later. Throws a
 * Refusal for an invalid key. The same key from another sender, or for another method or path, is another key.
 */
export function onceOf({ request, path, caller }: HandlerContext): (body?: Body) => Promise<{ once?: Once }> {
  const given = request.headers.get('idempotency-key')
  if (given === null) return async () => ({})
  if (!/^[\x21-\x7e]{1,255}$/.test(given))
    throw new Refusal('invalid-idempotency-key', 'The Idempotency-Key is not 1 to 255 visible ASCII characters.')
  const key = hash('sha256', JSON.stringify([caller.id, request.method, path, given]), 'hex')
  return async (body) => {
    const digest = createHash('sha256')
    if (body !== undefined) for await (const piece of inTurns(body)) digest.update(piece)
    return { once: { key, digest: digest.digest('hex') } }
  }
}
