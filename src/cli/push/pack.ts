/** The body of a request as it goes over the wire: gzip, where that is worth it. */

import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'

export interface Packed {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** Servers take what is packed far tighter for an attack; ours does from 200 times on. */
const MAX_RATIO = 100

export function plain(body: Uint8Array): Packed {
  return { body, headers: {} }
}

export async function pack(body: Uint8Array): Promise<Packed> {
  const packed = await promisify(gzip)(body, { level: constants.Z_BEST_SPEED })
  const isWorthIt = packed.length < body.length && packed.length * MAX_RATIO > body.length
  return isWorthIt ? { body: packed, headers: { 'Content-Encoding': 'gzip' } } : plain(body)
}
