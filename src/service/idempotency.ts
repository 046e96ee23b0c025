/** `Idempotency-Key`: a write that is sent again is done once. */

import { hash } from 'node:crypto'
import type { Once } from '../store/store.ts'
import type { Call } from './call.ts'
import { Refusal } from './refusal.ts'

/** The same key of another sender, method or path is another key. `body` is what is written, unpacked. */
export function onceOf({ request, path, caller }: Call, body: Uint8Array | string): { once?: Once } {
  const given = request.headers.get('idempotency-key')
  if (given === null) return {}
  if (!/^[\x21-\x7e]{1,255}$/.test(given))
    throw new Refusal('invalid-idempotency-key', 'The Idempotency-Key is not 1 to 255 visible ASCII characters.')
  const key = hash('sha256', JSON.stringify([caller.id, request.method, path, given]), 'hex')
  return { once: { key, digest: hash('sha256', body, 'hex') } }
}
