/** The problem details (RFC 9457) in the answer of a server that could not do what was asked. */

import { isObject } from './envelope.ts'

export interface ProblemDetails {
  readonly type?: string
  readonly title?: string
  readonly detail?: string
  /** What to do about it. Not in the RFC; Reams has it (D14). */
  readonly hint?: string
}

/** Of a body that is a JSON object, the fields above that are strings; undefined for any other body. */
export function problemDetails(body: Uint8Array): ProblemDetails | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const fields = Object.entries(value).filter(([name, field]) => FIELDS.includes(name) && typeof field === 'string')
  return Object.fromEntries(fields)
}

const FIELDS = ['type', 'title', 'detail', 'hint']
