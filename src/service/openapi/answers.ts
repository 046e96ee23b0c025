/** The answers of operations that go well. */

import { type HeaderName, headers, KEPT, SAFE } from './headers.ts'
import { type Part, reference } from './part.ts'
import type { Place } from './place.ts'

const NOT_MODIFIED = { description: 'The client has it as it is.' }

/** The same wherever they are given. */
export const SHARED_ANSWERS: Readonly<Record<string, Part>> = {
  'not-modified': { ...NOT_MODIFIED, headers: headers(...KEPT) },
  allowed: { description: 'The methods of this path.', headers: headers('Allow') },
}

/** Where there is an explorer. */
export const BROWSED_ANSWERS: Readonly<Record<string, Part>> = {
  'page-not-modified': { ...NOT_MODIFIED, headers: headers(...KEPT, ...SAFE) },
}

/** Something with a tag, and 304 for a client that has it. */
export function kept(found: Part): Record<string, Part> {
  return { '200': found, '304': reference('responses', 'not-modified') }
}

/** The same for what is also a page in HTML. */
export function browsed({ hasExplorer }: Place, found: Part): Record<string, Part> {
  return hasExplorer ? { '200': found, '304': reference('responses', 'page-not-modified') } : kept(found)
}

export function answer(description: string, content: Part, ...names: readonly HeaderName[]): Part {
  return { description, headers: headers('X-Content-Type-Options', ...names), content }
}

export function json(schema: Part, examples: Part): Part {
  return { 'application/json': { schema, examples } }
}

/** The same bytes under two names (D12). */
export function hal(schema: Part, examples: Part): Part {
  return { 'application/hal+json': { schema, examples }, ...json(schema, examples) }
}

/** What can be seen in a browser, as a page for people (D12). */
export function seen(
  { hasExplorer }: Place,
  description: string,
  content: Part,
  ...names: readonly HeaderName[]
): Part {
  if (!hasExplorer) return answer(description, content, ...names)
  return answer(description, { ...content, ...HTML }, ...names, ...SAFE, 'Content-Encoding')
}

export const HTML = { 'text/html': { schema: { type: 'string' } } } as const
