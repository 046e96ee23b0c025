/** What kind of value a field has, and how that looks in a cell. */

import { stringOf } from '../items/item-fields.ts'
import { brief, indented } from './browser/text.ts'
import { type Content, type Html, html } from './html.ts'

export type Kind = 'number' | 'date' | 'boolean' | 'link' | 'text' | 'object' | 'array' | 'null'

export interface Value {
  readonly kind: Kind
  /** Of a string what it says, of anything else its JSON. */
  readonly text: string
}

const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
const KINDS: Readonly<Record<string, Kind>> = { '{': 'object', '[': 'array', t: 'boolean', f: 'boolean', n: 'null' }

/** The beginning of a JSON string, up to an escape that is not whole. */
const STRING_START = /^"(?:[^"\\]|\\u[\da-f]{4}|\\["\\/bfnrt])*/i

/** Of what is nested, a cell unfolds this much. */
const NESTED_CHARACTERS = 1000

/** `json` may be cut off, and ends with `…` then. */
export function readValue(json: string): Value {
  if (!json.startsWith('"')) return { kind: KINDS[json.charAt(0)] ?? 'number', text: json }
  if (isCutOff(json)) return { kind: 'text', text: JSON.parse(`${STRING_START.exec(json)?.[0]}"`) }
  const text = stringOf(json)
  if (DATE.test(text) && !Number.isNaN(Date.parse(text))) return { kind: 'date', text }
  return { kind: /^https?:\/\/\S+$/i.test(text) && URL.canParse(text) ? 'link' : 'text', text }
}

export function isCutOff(json: string): boolean {
  return json.endsWith('…')
}

export function cellOf(value: Value | undefined): Html {
  if (value === undefined || value.kind === 'text') return html`<td>${value && brief(value.text)}</td>`
  return html`<td class="${value.kind}">${contentOf(value)}</td>`
}

function contentOf({ kind, text }: Value): Content {
  if (kind === 'object' || kind === 'array')
    return html`<details><summary>${brief(text, 40)}</summary>${preformatted(text, NESTED_CHARACTERS)}</details>`
  if (kind === 'link') return html`<a href="${text}" rel="noopener noreferrer" target="_blank">${brief(text)}</a>`
  return brief(text)
}

export function preformatted(json: string, characters?: number): Html {
  const pieces = indented(json, characters).map(({ text, isName }) => (isName ? html`<b>${text}</b>` : text))
  return html`<pre class="json" tabindex="0">${pieces}</pre>`
}
