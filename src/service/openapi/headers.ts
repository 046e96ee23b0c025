/** What an answer says in its headers. */

import { type Part, reference } from './part.ts'

function header(
  description: string,
  required: boolean,
  example: string | number,
  schema: Part = { type: 'string' },
): Part {
  return { description, required, schema, example }
}

export const HEADERS = {
  ETag: header('The tag of what is answered: a strong one, to be treated as opaque.', true, '"x"'),
  'Cache-Control': header('Whether a cache may keep it; one that does has to ask every time.', true, 'no-cache', {
    type: 'string',
    enum: ['no-cache', 'private, no-cache', 'no-store'],
  }),
  Vary: header('What else the answer depends on.', true, 'Accept, Accept-Encoding'),
  'X-Content-Type-Options': header('The type is what the Content-Type says.', true, 'nosniff', {
    type: 'string',
    const: 'nosniff',
  }),
  'Content-Encoding': header('There if the answer is packed.', false, 'gzip', { type: 'string', const: 'gzip' }),
  Location: header('The URL of what was created, if it has one.', false, 'https://example.com/events/7', {
    type: 'string',
    format: 'uri',
  }),
  Allow: header('The methods of this path.', true, 'GET, HEAD, OPTIONS'),
  'WWW-Authenticate': header('How to send a token.', true, 'Bearer', { type: 'string', const: 'Bearer' }),
  'Retry-After': header('Seconds, if trying again can help.', false, 1, { type: 'integer', minimum: 0 }),
  'Content-Security-Policy': header('Of HTML: it loads nothing from elsewhere.', false, "default-src 'none'"),
  'Referrer-Policy': header('Of HTML: other sites do not learn where a link was.', false, 'no-referrer', {
    type: 'string',
    const: 'no-referrer',
  }),
  'Accept-Encoding': header('How a body can be packed, if that is what is wrong.', false, 'gzip'),
} as const satisfies Readonly<Record<string, Part>>

export type HeaderName = keyof typeof HEADERS

/** Those of an answer that a client may keep. */
export const KEPT = ['ETag', 'Cache-Control', 'Vary'] as const satisfies readonly HeaderName[]

/** What makes a page in HTML safe, on its 304 too. */
export const SAFE = ['Content-Security-Policy', 'Referrer-Policy'] as const satisfies readonly HeaderName[]

export function headers(...names: readonly HeaderName[]): Part {
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]))
}
