/** Problems as answers (D14). */

import { type Problem, type ProblemName, problem } from '../contract/problem.ts'
import { contentHeaders } from './content-headers.ts'
import type { Reply } from './reply.ts'

const QUOTED_CHARACTERS = 100

/** An error is never stored by a cache. */
export function problemHeaders(body: Uint8Array): Record<string, string> {
  return { ...contentHeaders('application/problem+json', body.length), 'Cache-Control': 'no-store' }
}

export function problemBody(baseUrl: string, name: ProblemName, detail: string, hint?: string): Buffer<ArrayBuffer> {
  return bodyOf(problem(baseUrl, name, detail, hint))
}

function bodyOf(said: Problem): Buffer<ArrayBuffer> {
  return Buffer.from(`${JSON.stringify(said)}\n`)
}

export interface ProblemOptions {
  /** Instead of the hint in the catalogue. */
  readonly hint?: string
  readonly headers?: Record<string, string>
}

export function problemResponse(
  baseUrl: string,
  name: ProblemName,
  detail: string,
  options: ProblemOptions = {},
): Reply {
  const said = problem(baseUrl, name, detail, options.hint)
  const body = bodyOf(said)
  return { status: said.status, headers: { ...problemHeaders(body), ...options.headers }, body, problem: said }
}

/** A value that came with the request, in quotation marks and not too long, to be named in a detail. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > QUOTED_CHARACTERS ? `${value.slice(0, QUOTED_CHARACTERS)}…` : value)
}
