/** Reads the JSON text of items without a parser that could change it: numbers keep every digit. */

/** A string, a word or a number, or one of `,:[]{}`. The text is known to be JSON, but it may be cut off. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[^\s",:[\]{}]+|[,:[\]{}]/g

/** What could turn text around, or cannot be seen. */
const DECEPTIVE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The fields of an object, each value as JSON text without blanks; of a field that is there twice, the last. */
export function fieldsOf(json: string): Map<string, string> {
  const fields = new Map<string, string>()
  let [depth, name, text] = [0, '', '']
  for (const token of json.match(TOKEN) ?? []) {
    if (isClosing(token)) depth--
    if (depth === 1 && token === ':') [name, text] = [text, '']
    else if (depth === 0 ? name : depth === 1 && token === ',') {
      fields.set(JSON.parse(name), text)
      name = text = ''
    } else if (depth > 0) text += token
    if (isOpening(token)) depth++
  }
  return fields
}

export interface Piece {
  readonly text: string
  /** Whether it is the name of a field. */
  readonly isName: boolean
}

/** The same JSON with line breaks and indentation. */
export function indented(json: string): Piece[] {
  const pieces: Piece[] = []
  const tokens = json.match(TOKEN) ?? []
  let depth = 0
  const lineBreak = () => `\n${'  '.repeat(depth)}`
  for (const [place, token] of tokens.entries()) {
    const next = tokens[place + 1] ?? ''
    let text = visible(token)
    if (isOpening(token) && !isClosing(next)) {
      depth++
      text += lineBreak()
    } else if (token === ',') text += lineBreak()
    else if (token === ':') text += ' '
    else if (isClosing(next) && !isOpening(token)) {
      depth--
      text += lineBreak()
    }
    pieces.push({ text, isName: next === ':' })
  }
  return pieces
}

/** A text that looks like what it is: what would turn it around is written out, as JSON writes it. */
export function visible(text: string): string {
  return text.replace(DECEPTIVE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function isOpening(token: string): boolean {
  return token === '{' || token === '['
}

function isClosing(token: string): boolean {
  return token === '}' || token === ']'
}
