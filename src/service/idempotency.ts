/** `Idempotency-Key`: a write that is sent again is done once. */

import { createHash, hash } from 'node:crypto'
import type { Once } from '../store/store.ts'
import type { Body } from './body.ts'
import type { Call } from './call.ts'
import { inTurns } from './in-turns.ts'
import { Refusal } from './refusal.ts'

const NO_BODY: Body = { pieces: [], length: 0 }

/**
 * Throws a Refusal for a key that cannot be one; what it answers makes the rest from the body, unpacked, when that is there.
 * The same key of another sender, method or path is another key.
 */
export function onceOf({ request, path, caller }: Call): (body?: Body) => Promise<{ once?: Once }> {
  const given = request.headers.get('idempotency-key')
  if (given === null) return async () => ({})
  if (!/^[\x21-\x7e]{1,255}$/.test(given))
    throw new Refusal('invalid-idempotency-key', 'The Idempotency-Key is not 1 to 255 visible ASCII characters.')
  const key = hash('sha256', JSON.stringify([caller.id, request.method, path, given]), 'hex')
  return async (body = NO_BODY) => ({ once: { key, digest: await digestOf(body) } })
}

async function digestOf(body: Body): Promise<string> {
  const digest = createHash('sha256')
  for await (const piece of inTurns(body)) digest.update(piece)
  return digest.digest('hex')
}
