/** What kind of value a field has, and how that looks in a cell. */

import { element } from './element.ts'
import { indented, visible } from './json-text.ts'

export type Kind = 'number' | 'date' | 'boolean' | 'link' | 'text' | 'object' | 'array' | 'null'

export interface Value {
  readonly kind: Kind
  /** Of a string what it says, of anything else its JSON. */
  readonly text: string
}

/** Of a text, this much stands in a cell. */
const CELL_CHARACTERS = 120
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
const KINDS: Readonly<Record<string, Kind>> = { '{': 'object', '[': 'array', t: 'boolean', f: 'boolean', n: 'null' }

export function readValue(json: string): Value {
  if (!json.startsWith('"')) return { kind: KINDS[json.charAt(0)] ?? 'number', text: json }
  const text: string = JSON.parse(json)
  if (DATE.test(text) && !Number.isNaN(Date.parse(text))) return { kind: 'date', text }
  return { kind: /^https?:\/\/\S+$/i.test(text) && URL.canParse(text) ? 'link' : 'text', text }
}

/** Cut to what a reader wants to see of it. */
export function brief(text: string, characters = CELL_CHARACTERS): string {
  const start = visible(text.slice(0, characters))
  return text.length > characters ? `${start}…` : start
}

export function cell(value: Value | undefined): HTMLElement {
  if (value === undefined) return element('td')
  const { kind, text } = value
  return element('td', { class: kind }, kind === 'object' || kind === 'array' ? folded(text) : shown(value))
}

function shown({ kind, text }: Value): Node | string {
  const label = brief(text)
  if (kind === 'date') return element('time', { datetime: text }, label)
  if (kind === 'link') return element('a', { href: text, rel: 'noopener noreferrer', target: '_blank' }, label)
  return label
}

function folded(json: string): HTMLElement {
  const open = () => details.childElementCount > 1 || details.append(preformatted(json))
  const details = element('details', { toggle: open }, element('summary', {}, brief(json, 40)))
  return details
}

/** Of very long JSON the page shows the beginning: no more than this. */
const SHOWN_CHARACTERS = 500_000

export function preformatted(json: string): HTMLElement {
  const names: Node[] = []
  let text = ''
  for (const piece of indented(json.slice(0, SHOWN_CHARACTERS))) {
    if (!piece.isName) {
      text += piece.text
      continue
    }
    names.push(document.createTextNode(text), element('b', {}, piece.text))
    text = ''
  }
  const rest = json.length > SHOWN_CHARACTERS ? '\n… The rest is not shown; “Copy JSON” copies all of it.' : ''
  return element('pre', { class: 'json', tabindex: 0 }, ...names, text + rest)
}
