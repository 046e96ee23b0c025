/** What kind of value a field has, and how that looks in a cell. */

import { hash } from 'node:crypto'
import { counted, formatCount } from '../contract/message-text.ts'
import { stringOf } from '../items/item-fields.ts'
import { brief, indented, outline } from './browser/text.ts'
import { type Content, type Html, html } from './html.ts'

export type Kind = 'number' | 'date' | 'boolean' | 'link' | 'text' | 'object' | 'array' | 'null'

export interface Value {
  readonly kind: Kind
  /** Of a string what it says, of anything else its JSON. */
  readonly text: string
  /** Whether only its beginning was read, or nothing of it. */
  readonly isCut: boolean
}

/** What stands at the end of a large item, which is not read: the field may be there or not. */
export const UNREAD: Value = { kind: 'null', text: '…', isCut: true }

/** How much of each value a table shows, in characters. */
export interface Detail {
  readonly text: number
  /** A longer URL is shown as a text, because a link holds all of it. */
  readonly link: number
  /** What a nested value unfolds to; 0 where none unfolds. */
  readonly nested: number
  /** How much of a nested value is read to sum it up. */
  readonly outlined: number
}

const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
const KINDS: Readonly<Record<string, Kind>> = { '{': 'object', '[': 'array', t: 'boolean', f: 'boolean', n: 'null' }

/** The beginning of a JSON string, up to an escape that is not whole. */
const STRING_START = /^"(?:[^"\\]|\\u[\da-f]{4}|\\["\\/bfnrt])*/i

/** No page shows more of a string that is cut off. */
const CUT_CHARACTERS = 1000

/** `json` may be cut off, and ends with `…` then. */
export function readValue(json: string): Value {
  const isCut = json.endsWith('…')
  if (!json.startsWith('"')) return { kind: KINDS[json.charAt(0)] ?? 'number', text: json, isCut }
  if (isCut) {
    const [start] = STRING_START.exec(json.slice(0, CUT_CHARACTERS)) ?? []
    return { kind: 'text', text: JSON.parse(`${start}"`), isCut }
  }
  const text = stringOf(json)
  if (DATE.test(text) && !Number.isNaN(Date.parse(text))) return { kind: 'date', text, isCut }
  return { kind: /^https?:\/\/\S+$/i.test(text) && URL.canParse(text) ? 'link' : 'text', text, isCut }
}

/** Whether a cell shows all of it, unfolded if it is nested. */
export function isShownWhole({ kind, text, isCut }: Value, detail: Detail): boolean {
  return !isCut && text.length <= (NESTED.includes(kind) ? detail.nested : charactersOf(kind, detail))
}

const NESTED: readonly Kind[] = ['object', 'array']

/** Numbers and dates of the usual length keep every digit, even where other values are shortened. */
function charactersOf(kind: Kind, { text }: Detail): number {
  return kind === 'number' || kind === 'date' ? Math.max(text, DIGITS) : text
}

const DIGITS = 32

/** The style sheet names what is missing: a page can have thousands of such cells. */
export function cellOf(value: Value | undefined, isPinned: boolean, detail: Detail): Html {
  const kind = value?.text === '' ? 'null' : value?.kind
  const classes = [...(kind === undefined || kind === 'text' ? [] : [kind]), ...(isPinned ? ['pin'] : [])].join(' ')
  return html`<td${classes && html` class="${classes}"`}>${value && contentOf(value, detail)}</td>`
}

const EMPTY_TEXT = 'empty text'

function contentOf({ kind, text, isCut }: Value, detail: Detail): Content {
  if (NESTED.includes(kind)) {
    const { nested, outlined } = detail
    const summary = outline(text.length > outlined ? `${text.slice(0, outlined)}…` : text)
    if (nested === 0) return summary
    return html`<details><summary>${summary}</summary>${preformatted(text, nested)}</details>`
  }
  const shown = brief(text, charactersOf(kind, detail)) || EMPTY_TEXT
  if (kind === 'link' && text.length <= detail.link)
    return html`<a href="${text}" rel="noopener noreferrer" target="_blank">${shown}</a>`
  return isCut && !shown.endsWith('…') ? `${shown}…` : shown
}

export function preformatted(json: string, characters?: number): Html {
  const pieces = indented(json, characters).map(({ text, isName }) => (isName ? html`<b>${text}</b>` : text))
  return html`<pre class="json" tabindex="0">${pieces}</pre>`
}

const STEPS = 12
const MAX_VALUES = 3
const LONG_CHARACTERS = 10_000

/** `kind` is that of all values, nulls aside. A value that is not read to its end counts as not read. */
export function summaryOf(kind: Kind, values: readonly (Value | undefined)[]): Content {
  if (NESTED.includes(kind)) return ''
  const texts = values.flatMap((value) =>
    value === undefined || value.isCut || value.kind === 'null' ? [] : [value.text],
  )
  const unread = values.reduce((count, value) => count + Number(value?.isCut ?? false), 0)
  const note = unread === 0 ? '' : html`<div class="quiet">${counted(unread, 'value')} not read</div>`
  if (texts.length === 0) return note
  return [kind === 'number' || kind === 'date' ? histogram(kind, texts) : mostFrequent(texts), note]
}

/** Its outline has a baseline and is labelled at both ends, so that it needs no colour. */
function histogram(kind: Kind, texts: readonly string[]): Content {
  const points = texts
    .map((text) => (kind === 'date' ? { text: text.slice(0, 10), at: Date.parse(text) } : { text, at: Number(text) }))
    .filter(({ at }) => Number.isFinite(at))
    .sort((a, b) => a.at - b.at)
  const [least, most] = [points[0], points.at(-1)]
  if (least === undefined || most === undefined) return ''
  const steps = new Array<number>(STEPS).fill(0)
  // Halves, because the difference of two large numbers may be none.
  const width = most.at / 2 - least.at / 2 || 1
  for (const { at } of points) {
    const step = Math.min(STEPS - 1, Math.floor(((at / 2 - least.at / 2) / width) * STEPS))
    steps[step] = (steps[step] ?? 0) + 1
  }
  const range = `from ${brief(least.text, 24)} to ${brief(most.text, 24)}`
  const label = `Histogram of ${counted(points.length, 'value')} ${range}, in ${STEPS} steps: ${steps.join(', ')}`
  const tallest = Math.max(...steps)
  const bars = steps.map((number, step) => `M${step * 8} 24v${((-22 * number) / tallest).toFixed(1)}h7V24`).join('')
  return html`<div class="histogram"><svg viewBox="0 0 95 24" role="img" preserveAspectRatio="none">
<title>${label}</title><path d="M0 23.5h95v.5H0${bars}"/></svg>
<div aria-hidden="true"><span>${brief(least.text, 12)}</span><span>${brief(most.text, 12)}</span></div></div>`
}

function mostFrequent(texts: readonly string[]): Content {
  const times = new Map<string, number>()
  for (const text of texts) {
    // A map compares long texts of the same length one by one.
    const key = text.length > LONG_CHARACTERS ? `${text.slice(0, LONG_CHARACTERS)}${hash('sha256', text)}` : text
    times.set(key, (times.get(key) ?? 0) + 1)
  }
  const ranking = [...times].sort(([, a], [, b]) => b - a)
  if (times.size > 1 && ranking[0]?.[1] === 1) return counted(times.size, 'different value')
  const rows = ranking
    .slice(0, MAX_VALUES)
    .map(
      ([text, number]) =>
        html`<li><span>${brief(text, 40) || EMPTY_TEXT}</span>${formatCount(number)}${bar(number / texts.length)}</li>`,
    )
  const others = times.size - rows.length
  const more = others > 0 ? html`<li class="quiet">${counted(others, 'other')}</li>` : ''
  return html`<ol class="frequent" aria-label="Most frequent values">${rows}${more}</ol>`
}

/** A share of the whole as a bar in a frame; the figure itself stands beside it. */
export function bar(share: number): Html {
  const width = Math.max(share * 100, share && 1).toFixed(1)
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
<rect width="${width}" height="8"/></svg>`
}
