/** What the Content-Type of a request says about its body. */

import type { Incoming } from './incoming.ts'
import { Refusal } from './refusal.ts'

export type BodyType = 'json' | 'ndjson'

const TYPES: ReadonlyMap<string, BodyType> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
])

/** Throws a Refusal for a type that is not taken, and for one in another charset than UTF-8. */
export function bodyTypeOf(request: Incoming): BodyType {
  const given = request.headers.get('content-type')
  if (given === null) throw new Refusal('unsupported-media-type', 'There is no Content-Type.')
  const [name = '', ...parameters] = given.split(';').map((part) => part.trim().toLowerCase())
  const type = TYPES.get(name)
  if (type !== undefined && parameters.every(isTaken)) return type
  throw new Refusal('unsupported-media-type', `The Content-Type is ${JSON.stringify(given.slice(0, 100))}.`)
}

/** JSON is UTF-8; what else a parameter says changes nothing. */
function isTaken(parameter: string): boolean {
  return !parameter.startsWith('charset=') || /^charset="?(utf-?8|us-ascii)"?$/.test(parameter)
}
