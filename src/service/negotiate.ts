/** What the client prefers, by the weights in its Accept and Accept-Encoding headers (D12). Never 406. */

import { LRUCache } from 'lru-cache'

export type Encoding = 'identity' | 'gzip'
export type EnvelopeType = 'application/hal+json' | 'application/json'

/** gzip if the client accepts it and does not rank an explicit `identity` higher. */
export function chooseEncoding(acceptEncoding: string | null): Encoding {
  if (acceptEncoding === null) return 'identity'
  const weights = readWeights(acceptEncoding)
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0) ? 'gzip' : 'identity'
}

/**
 * HAL unless the client prefers plain JSON: by a higher weight, or by naming it while HAL gets the same weight only from a
 * wildcard, as many clients do without thinking of HAL.
 */
export function chooseEnvelopeType(accept: string | null): EnvelopeType {
  if (accept === null) return 'application/hal+json'
  const weights = readWeights(accept)
  const hal = weightOf('application/hal+json', weights)
  const json = weightOf('application/json', weights)
  const isJsonAlone = weights.has('application/json') && !weights.has('application/hal+json')
  return json > hal || (json === hal && json > 0 && isJsonAlone) ? 'application/json' : 'application/hal+json'
}

/**
 * Whether to send HTML: only if the client lists both `text/html` and `application/xhtml+xml`, as browsers do when they navigate,
 * and does not prefer the data. The HTTP clients of some languages list `text/html` alone, and want the data.
 */
export function wantsHtml(accept: string | null): boolean {
  if (accept === null) return false
  const weights = readWeights(accept)
  const [html = 0, xhtml = 0] = [weights.get('text/html'), weights.get('application/xhtml+xml')]
  return html > 0 && xhtml > 0 && html >= weightOf(chooseEnvelopeType(accept), weights)
}

/** The weight of a media type: that of the most specific range that covers it. */
function weightOf(type: EnvelopeType, weights: ReadonlyMap<string, number>): number {
  return weights.get(type) ?? weights.get('application/*') ?? weights.get('*/*') ?? 0
}

/** Clients send the same few headers again and again. */
const known = new LRUCache<string, ReadonlyMap<string, number>>({ max: 50 })

function readWeights(header: string): ReadonlyMap<string, number> {
  const remembered = known.get(header)
  if (remembered !== undefined) return remembered
  const weights = parseWeights(header)
  known.set(header, weights)
  return weights
}

/** Each name in the list, in lower case, with its `q`: 1 by default, 0 if it is invalid. */
function parseWeights(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const element of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(name, /^(0?\.\d+|0\.?|1(\.0*)?)$/.test(quality) ? Number(quality) : 0)
  }
  return weights
}
