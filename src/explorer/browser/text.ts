/** How texts, figures and JSON look on a page: nothing hidden, nothing turned around, every digit as it was written. */

import { counted, formatCount } from '../../contract/message-text.ts'
import { pageRange } from '../../contract/page.ts'

/** Of a text, this much stands in a cell, a heading or a title. */
const BRIEF_CHARACTERS = 120

/** What could turn text around, or cannot be seen. */
const DECEPTIVE = /[\p{Cc}\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** Nothing in it is deceptive, which is the usual case and quickly found out. */
const ASCII = /^[ -~]*$/

/** A string, a word or a number, or one of `,:[]{}`. The text is known to be JSON, but it may be cut off. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[^\s",:[\]{}]+|[,:[\]{}]/g

/** Levels. What is nested deeper would be mostly blanks. */
const MAX_INDENT = 40

/** Of one JSON text a page shows no more than this, … */
const MAX_CHARACTERS = 250_000
/** … and no more than this once it is indented. */
const MAX_INDENTED_CHARACTERS = 2_000_000

/** A text that looks like what it is: deceptive characters are written out, as JSON writes them. */
export function visible(text: string): string {
  return ASCII.test(text)
    ? text
    : text.replace(DECEPTIVE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The beginning of a long text, made visible. */
export function brief(text: string, characters = BRIEF_CHARACTERS): string {
  if (text.length <= characters) return visible(text)
  return `${visible(text.slice(0, characters).replace(/[\ud800-\udbff]$/, ''))}…`
}

/** `items 501–1,000`. */
export function itemsOn(page: number, itemCount: number): string {
  const { start, end } = pageRange(page, itemCount)
  return itemCount === 0 ? 'no items' : `items ${formatCount(start + 1)}–${formatCount(end)}`
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `3 s ago`, `5 min ago`, `7 h ago`, `2 days ago`. The clock that wrote the moment may be ahead of ours. */
export function ago(ms: number): string {
  const units = (unit: number) => Math.max(0, Math.floor(ms / unit))
  if (ms < MINUTE_MS) return `${units(SECOND_MS)} s ago`
  if (ms < HOUR_MS) return `${units(MINUTE_MS)} min ago`
  return ms < 2 * DAY_MS ? `${units(HOUR_MS)} h ago` : `${formatCount(units(DAY_MS))} days ago`
}

export interface Piece {
  readonly text: string
  /** Whether it is the name of a field. */
  readonly isName: boolean
}

/** The same JSON with line breaks and indentation; the last piece tells where it is too long to show all of it. */
export function indented(json: string, characters = MAX_CHARACTERS): Piece[] {
  const pieces: Piece[] = []
  const beginning = json.slice(0, characters)
  const tokens = beginning.match(TOKEN) ?? []
  // To test each token takes longer than all else.
  const shown = ASCII.test(beginning) ? (token: string) => token : visible
  let [text, depth, length, place] = ['', 0, 0, 0]
  const lineBreak = () => `\n${'  '.repeat(Math.min(depth, MAX_INDENT))}`
  for (; place < tokens.length && length + text.length < MAX_INDENTED_CHARACTERS; place++) {
    const [token = '', next = ''] = [tokens[place], tokens[place + 1]]
    if (next === ':') {
      pieces.push({ text, isName: false }, { text: shown(token), isName: true })
      length += text.length + token.length
      text = ''
      continue
    }
    text += shown(token)
    if (token === ':') text += ' '
    else if (token === ',') text += lineBreak()
    else if (isOpening(token) !== isClosing(next)) {
      depth += isOpening(token) ? 1 : -1
      text += lineBreak()
    }
  }
  const isAll = place === tokens.length && json.length <= characters
  return [...pieces, { text: isAll ? text : text + REST, isName: false }]
}

const REST = '\n… The rest is not shown here; the raw JSON has all of it.'

/** Of what is nested, so much stands in a line. */
const OUTLINE_CHARACTERS = 34
/** Of one text in it. */
const MEMBER_CHARACTERS = 24
/** With a comma and a blank each, no more members stand in a line; of the others only the number counts. */
const MAX_MEMBERS = OUTLINE_CHARACTERS / 2

/** What is nested, in a line: `{name: "x", at: {…}, …3}`, `[1, 2]` or `[12 items]`. JSON that is cut off ends with `…`. */
export function outline(json: string): string {
  const { members, isFlat } = membersOf(json)
  const isCut = json.endsWith('…')
  // What stands at the end is not whole.
  if (isCut) members.pop()
  const all = members.join(', ')
  if (json.startsWith('[')) {
    if (isFlat && !isCut && all.length <= OUTLINE_CHARACTERS) return `[${all}]`
    return `[${isCut ? 'more than ' : ''}${counted(members.length, 'item')}]`
  }
  let shown = 1
  while (shown < members.length && members.slice(0, shown + 1).join(', ').length <= OUTLINE_CHARACTERS) shown++
  const left = members.length - shown
  const rest = isCut ? ['…'] : left > 0 ? [`…${left}`] : []
  return `{${[...members.slice(0, shown), ...rest].join(', ')}}`
}

/** The members of an object or an array, each in a few characters. */
function membersOf(json: string): { members: string[]; isFlat: boolean } {
  const members: string[] = []
  let [member, before, depth, isFlat] = ['', '', 0, true]
  for (const token of json.match(TOKEN) ?? []) {
    if (isClosing(token)) depth--
    if (depth === 1 && token === ',') {
      members.push(member)
      member = ''
    } else if (depth === 1 && token === ':') member = `${member.replace(/^"([a-z_]\w*)"$/i, '$1')}: `
    else if (depth === 1 && members.length > MAX_MEMBERS) member = '…'
    else if (depth === 1)
      member += isClosing(token) && !isOpening(before) ? `…${token}` : brief(token, MEMBER_CHARACTERS)
    if (isOpening(token) && depth++ > 0) isFlat = false
    before = token
  }
  return { members: member === '' ? members : [...members, member], isFlat }
}

function isOpening(token: string): boolean {
  return token === '{' || token === '['
}

function isClosing(token: string): boolean {
  return token === '}' || token === ']'
}
