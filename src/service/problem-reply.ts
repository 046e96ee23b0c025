/** Problems as replies (D14): refusals, and what the errors of a store become. */

import { quoted } from '../contract/message-text.ts'
import { type ProblemName, problem } from '../contract/problem.ts'
import type { StoreError } from '../store/store-error.ts'
import { contentHeaders, identified, type Reply } from './reply.ts'
import type { RequestFacts } from './request-record.ts'

export interface ProblemOptions {
  /** Instead of the hint in the catalogue. */
  readonly hint?: string
  readonly headers?: Record<string, string>
}

export function problemReply(
  baseUrl: string,
  facts: RequestFacts,
  { problem: name, message, options }: Pick<Refusal, 'problem' | 'message' | 'options'>,
): Reply {
  const said = { ...problem(baseUrl, name, message, options.hint), request_id: facts.requestId }
  const body = Buffer.from(`${JSON.stringify(said)}\n`)
  // An error is never stored by a cache.
  const own = { ...contentHeaders('application/problem+json', body.length), 'Cache-Control': 'no-store' }
  return identified({ status: said.status, headers: { ...own, ...options.headers }, body, problem: said }, facts)
}

/** Thrown anywhere while a request is handled, and answered as a problem. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly problem: ProblemName
  readonly options: ProblemOptions

  constructor(problem: ProblemName, detail: string, options: ProblemOptions = {}) {
    super(detail)
    this.problem = problem
    this.options = options
  }
}

export const RETRY: ProblemOptions = { headers: { 'Retry-After': '1' } }

/** The problem for each error code of a store, with a detail where the store's own message is not for HTTP or not for everybody. */
const STORE_PROBLEMS: Partial<
  Record<StoreError['code'], readonly [name: ProblemName, detail?: string, options?: ProblemOptions]>
> = {
  'key-conflict': ['conflict'],
  'settings-differ': ['conflict'],
  'collection-changed': ['conflict'],
  'unpaginated-full': ['conflict'],
  'no-key-field': ['conflict', 'The collection was created in the meantime, with a different key.'],
  mirror: ['collection-mirrored'],
  'no-item': ['item-not-found'],
  'no-state': ['state-not-found'],
  'state-expired': ['state-expired'],
  'no-collection': ['collection-not-found', 'There is no such collection, or it was dropped.'],
  'invalid-name': ['invalid-name'],
  'precondition-failed': ['precondition-failed'],
  'request-differs': ['idempotency-conflict'],
  busy: ['collection-busy', 'An import or a copy of this collection is running.', RETRY],
  full: ['store-full', 'There is no room for this write.'],
  'writes-denied': ['read-only', 'The service may only read its store.'],
  // Temporary, in most cases for seconds.
  unavailable: ['store-unavailable', 'The store did not answer.', RETRY],
  overloaded: ['store-unavailable', 'Too many other requests are waiting for the store.', RETRY],
  'read-only': ['store-unavailable', 'The store is read-only now.', RETRY],
  // Without Retry-After: a client that follows it blindly could write twice.
  'outcome-unknown': ['outcome-unknown', 'The store gave no definite answer while it committed the write.'],
}

/** The problems that stand for an error which the operator has to see. */
const FAULTS: readonly ProblemName[] = ['internal-error', 'store-unavailable', 'outcome-unknown']

export function isFault({ problem }: Refusal): boolean {
  return FAULTS.includes(problem)
}

/** What to answer to an error. The message of a fault is never shown. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (!isStoreError(error)) return new Refusal('internal-error', 'The request could not be answered.')
  const [name, detail = error.message, options] = STORE_PROBLEMS[error.code] ?? []
  if (name !== undefined) return new Refusal(name, detail, options)
  if (error.code !== 'corrupt') return new Refusal('store-unavailable', 'The store cannot be used.')
  // The store names the collection only to callers who may know that it exists.
  const where = error.collection === undefined ? 'The store' : `The collection ${quoted(error.collection)}`
  return new Refusal('store-unavailable', `${where} is damaged.`, { hint: 'Tell the operator of the service.' })
}

/** By its name: the service knows no engine, and the store of somebody who embeds it may come from another copy of Reams. */
function isStoreError(error: unknown): error is StoreError {
  return error instanceof Error && (error.name === 'StoreError' || error.name === 'ItemConflict') && 'code' in error
}

/** For an item whose key exists already. */
export function replaceHint(url: string): string {
  return `To replace the item, PUT it to ${shortUrl(url)}`
}

const MAX_URL_LENGTH = 100

/** The URL of an item at the end of a hint. */
function shortUrl(url: string | undefined): string {
  return url === undefined || url.length > MAX_URL_LENGTH ? 'its own URL.' : url
}

/** The same for a name that does not exist, and for one that the caller may not know of. */
export function collectionNotFound(name: string, options?: ProblemOptions): Refusal {
  return new Refusal('collection-not-found', `There is no collection ${quoted(name)}.`, options)
}

/** For an item below a snapshot or changes. `url`: where the item would be today. */
export function pastItemNotFound({ path }: { readonly path: string }, url: string | undefined): Refusal {
  const detail = `There is nothing at ${quoted(path)}: snapshots and changes have pages, but no item URLs.`
  const hint = `Look for the item on those pages. As it is now, it is at ${shortUrl(url)}`
  return new Refusal('path-not-found', detail, { hint })
}

export function pathNotFound({ path }: { readonly path: string }): Refusal {
  const options = path.endsWith('/') ? { hint: 'Leave out the slash at the end.' } : {}
  return new Refusal('path-not-found', `There is nothing at ${quoted(path)}.`, options)
}
