/** What kind of JSON value something is, and how a message shows it. */

import { shorten } from '../../contract/message-text.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** With its article: "an array", "null", "a string". */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'absent'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The value itself, cut to a piece that fits into a message. */
export function shown(value: unknown): string {
  return value === undefined ? 'nothing' : shorten(JSON.stringify(value))
}
