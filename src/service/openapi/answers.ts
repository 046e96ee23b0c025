/** The answers of operations that go well. */

import { type HeaderName, headers, KEPT } from './headers.ts'
import { type Part, reference } from './part.ts'

const NOT_MODIFIED = { '304': reference('responses', 'not-modified') }

/** The same wherever they are given. */
export const SHARED_ANSWERS: Readonly<Record<string, Part>> = {
  'not-modified': { description: 'The client has it as it is.', headers: headers(...KEPT) },
  allowed: { description: 'The methods of this path.', headers: headers('Allow') },
}

/** Something with a tag, and 304 for a client that has it. */
export function kept(found: Part): Record<string, Part> {
  return { '200': found, ...NOT_MODIFIED }
}

export function answer(description: string, content: Part, ...names: readonly HeaderName[]): Part {
  return { description, headers: headers('X-Content-Type-Options', ...names), content }
}

export function json(schema: Part, examples: Part): Part {
  return { 'application/json': { schema, examples } }
}

/** The same bytes under two names, and a page for people in a browser (D12). */
export function hal(schema: Part, examples: Part): Part {
  return { 'application/hal+json': { schema, examples }, ...json(schema, examples), ...HTML }
}

export const HTML = { 'text/html': { schema: { type: 'string' } } } as const
