/** Lays out the JSON text of items without a parser that could change it: numbers keep every digit. */

/** A string, a word or a number, or one of `,:[]{}`. The text is known to be JSON, but it may be cut off. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[^\s",:[\]{}]+|[,:[\]{}]/g

/** Levels. */
const MAX_INDENT = 40

/** What could turn text around, or cannot be seen. */
const DECEPTIVE = /[\p{Cc}\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

export interface Piece {
  readonly text: string
  /** Whether it is the name of a field. */
  readonly isName: boolean
}

/** The same JSON with line breaks and indentation. */
export function indented(json: string): Piece[] {
  const pieces: Piece[] = []
  const tokens = json.match(TOKEN) ?? []
  const isPlain = json.search(DECEPTIVE) === -1
  let depth = 0
  // What is nested deeper than can be seen would be nothing but blanks, a thousand for each value.
  const lineBreak = () => `\n${'  '.repeat(Math.min(depth, MAX_INDENT))}`
  for (const [place, token] of tokens.entries()) {
    const next = tokens[place + 1] ?? ''
    let text = isPlain ? token : visible(token)
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
