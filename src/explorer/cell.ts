/** A value as a cell of a table: its text, not too much of it. */

import { visible } from './browser/json-text.ts'
import { type Html, html } from './html.ts'

/** Of a value, this much stands in a cell. */
const CELL_CHARACTERS = 120

/** As the page that the script makes names them. */
const KINDS: Readonly<Record<string, string>> = { '{': 'object', '[': 'array', t: 'boolean', f: 'boolean', n: 'null' }

/** The beginning of a string, up to an escape that is not whole. */
const STRING_START = /^"(?:[^"\\]|\\u[\da-f]{4}|\\[^u])*/i

/** `json` may break off, and ends with `…` then. */
export function cellOf(json: string | undefined): Html {
  if (json === undefined) return html`<td></td>`
  if (json.startsWith('"')) return html`<td>${shortened(textOf(json))}</td>`
  return html`<td class="${KINDS[json.charAt(0)] ?? 'number'}">${shortened(json)}</td>`
}

/** What a string says; of a long one, what its beginning says, which is more than is shown. */
function textOf(json: string): string {
  const [start = '"'] = STRING_START.exec(json.slice(0, 6 * (CELL_CHARACTERS + 2))) ?? []
  return JSON.parse(`${start}"`)
}

export function shortened(text: string, characters = CELL_CHARACTERS): string {
  if (text.length <= characters) return visible(text)
  return `${visible(text.slice(0, characters).replace(/[\ud800-\udbff]$/, ''))}…`
}

/** The key that a value is, as it stands in a path. */
export function keyOf(json: string | undefined): string | undefined {
  if (json === undefined || json.endsWith('…')) return undefined
  return json.startsWith('"') ? JSON.parse(json) : json
}
