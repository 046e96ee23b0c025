/** Sends batches over HTTP, one after the other, each with an idempotency key by which a server knows it again. */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { createSocketFetch } from '../../../check/http/socket-fetch.ts'
import { settingsOf } from '../../../client/client-options.ts'
import type { FetchedBody } from '../../../client/exchange.ts'
import type { Retry } from '../../../client/index.ts'
import { Requester } from '../../../client/requester.ts'
import { counted, shorten } from '../../../contract/message-text.ts'
import type { CollectionSettings } from '../../../store/store.ts'
import { Failure } from '../../failure.ts'
import { type Batch, placeOf } from './batch.ts'

/** The longest answer that is read. */
const MAX_ANSWER_BYTES = 64 * 1024

/** A server remembers a request for 24 hours: an hour less, for one that is under way. */
const REMEMBERED_MS = 23 * 60 * 60 * 1000

/** Servers reject very high compression ratios as bombs; ours does from 200 on. */
const MAX_RATIO = 100

const JSON_BODY = { 'Content-Type': 'application/json' }

export interface SenderOptions {
  readonly url: string
  readonly token: string | undefined
  readonly ca?: string | undefined
  /** Tells this source from any other: with the place and the items of a batch it makes the key. */
  readonly sourceId: string
  readonly isPacked: boolean
  readonly timeoutMs: number
  readonly retries: number
  readonly signal: AbortSignal
  /** Called before a batch is sent again. */
  readonly onRetry: (retry: Retry) => void
}

/** A batch as it goes over the wire. */
interface PackedBatch extends Batch {
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
}

interface Acknowledgement {
  /** How many items the collection had then. */
  readonly itemCount: number
  /** Whether the server did this for an earlier push, and nothing now. */
  readonly isRepeated: boolean
}

export type BatchSender = ReturnType<typeof createSender>

export function createSender({ ca, ...options }: SenderOptions) {
  const { url, token, sourceId, isPacked, timeoutMs, retries, signal, onRetry } = options
  const http = createSocketFetch({ encoding: 'identity', ca })
  let sentAt = 0
  /** How often the batch at hand was sent. */
  let attempts = 0
  /** A machine can sleep for days between two attempts. */
  const fetch = async (request: Request): Promise<Response> => {
    attempts++
    // A clock can be set back, too.
    if (Math.abs(Date.now() - sentAt) < REMEMBERED_MS) return http.fetch(request)
    throw new Error('after so long the server may have forgotten the idempotency keys')
  }
  const headers = { Accept: 'application/json' }
  const limits = { concurrency: 1, timeoutMs, pageBytes: MAX_ANSWER_BYTES, retry: { retries } }
  const requester = new Requester(url, settingsOf({ fetch, token, headers, ...limits, onRetry }))
  return {
    /** Creates the collection. One that exists with these settings stays as it is. */
    create: async ({ keyField: key, isPaginated: paginated, isPrivate }: CollectionSettings): Promise<void> => {
      const body = Buffer.from(JSON.stringify({ key, paginated, private: isPrivate }))
      sentAt = Date.now()
      await requester.send({ url, method: 'PUT', headers: JSON_BODY, body }, { signal }, () => undefined)
    },
    pack: async (batch: Batch): Promise<PackedBatch> => {
      const hash = createHash('sha256')
        .update(JSON.stringify([sourceId, batch.first]))
        .update(batch.body)
      const plain = { ...batch, key: hash.digest('hex'), headers: {} }
      if (!isPacked) return plain
      const body = await promisify(gzip)(batch.body, { level: constants.Z_BEST_SPEED })
      const isWorthIt = body.length < batch.body.length && body.length * MAX_RATIO > batch.body.length
      return isWorthIt ? { ...plain, body, headers: { 'Content-Encoding': 'gzip' } } : plain
    },
    send: async (batch: PackedBatch): Promise<Acknowledgement> => {
      const headers = { ...JSON_BODY, 'Idempotency-Key': batch.key, ...batch.headers }
      sentAt = Date.now()
      attempts = 0
      return requester.send({ url, method: 'POST', headers, body: batch.body }, { signal }, (fetched) =>
        acknowledgement(fetched, batch, attempts === 1),
      )
    },
    [Symbol.dispose]: () => http[Symbol.dispose](),
  }
}

function acknowledgement(fetched: FetchedBody, batch: Batch, isFirstAttempt: boolean): Acknowledgement {
  const text = new TextDecoder().decode(fetched.body)
  let answer: { appended?: unknown; item_count?: unknown } = {}
  try {
    answer = JSON.parse(text) ?? {}
  } catch {
    // Not JSON, so not an acknowledgement.
  }
  const { appended, item_count: itemCount } = answer
  if (appended === batch.count && typeof itemCount === 'number')
    return { itemCount, isRepeated: isFirstAttempt && fetched.headers.has('idempotent-replayed') }
  throw new Failure(
    2,
    `${fetched.url} answered ${placeOf(batch)} with 201, without saying that ${counted(batch.count, 'item')} were appended. This does not look like a Reams server. It said: ${shorten(text)}`,
  )
}
