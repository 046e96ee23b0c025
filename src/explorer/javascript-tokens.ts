/** Cuts JavaScript into its tokens: enough of the grammar to tell code from strings, templates, regular expressions and comments. */

export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'regex' | 'template' | 'punctuator'
  readonly text: string
  /** Whether a line break stands before it, which can end a statement. */
  readonly isOnNewLine: boolean
}

const BLANK = /(?:\s|\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)+/y
/** In the order in which they are tried. */
const KINDS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['word', /#?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy],
  ['number', /(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?|\.\d)[\d_]*(?:e[+-]?\d+)?)n?/iy],
  ['string', /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y],
  ['regex', /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y],
  ['punctuator', /\.\.\.|\?\.(?!\d)|=>|\+\+|--|[^\s\w'"`]/y],
]
/** From the beginning of a template, or from the end of a value in it, to its end or to the next value. */
const TEMPLATE = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y

/** Words behind which a slash begins a regular expression. */
const OPERATORS = /^(?:return|typeof|case|in|of|delete|void|throw|new|await|yield|else|do|instanceof)$/

/** Throws an Error for what it cannot read. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  /** What closes each brace that is open: a template goes on behind the brace of a value in it. */
  const braces: ('block' | 'template')[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const [text] = pattern.exec(source) ?? []
    at += text?.length ?? 0
    return text
  }
  while (at < source.length) {
    const blank = take(BLANK)
    if (at === source.length) break
    const isOnNewLine = blank?.includes('\n') === true
    const isTemplate = source[at] === '`' || (source[at] === '}' && braces.at(-1) === 'template')
    const token = isTemplate ? templateToken() : nextToken()
    if (token === undefined) throw new Error(`Cannot read this JavaScript: ${source.slice(at, at + 40)}`)
    tokens.push({ ...token, isOnNewLine })
  }
  return tokens

  function templateToken(): Omit<Token, 'isOnNewLine'> | undefined {
    const opening = source[at]
    at++
    const text = take(TEMPLATE)
    if (opening === '}') braces.pop()
    if (text?.endsWith('{')) braces.push('template')
    return text === undefined ? undefined : { kind: 'template', text: opening + text }
  }

  function nextToken(): Omit<Token, 'isOnNewLine'> | undefined {
    for (const [kind, pattern] of KINDS) {
      if (kind === 'regex' && !canBeRegex(tokens.at(-1), source[at + 1])) continue
      const text = take(pattern)
      if (text === undefined) continue
      if (text === '{') braces.push('block')
      if (text === '}') braces.pop()
      return { kind, text }
    }
    return undefined
  }
}

/** Behind a closing bracket only the blank that the formatter puts around a division tells one from a regular expression. */
function canBeRegex(before: Token | undefined, next: string | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return OPERATORS.test(before.text)
  if (before.kind === 'template') return before.text.endsWith('{')
  if (before.kind !== 'punctuator' || /^(?:\]|\+\+|--)$/.test(before.text)) return false
  return !/^[)}]$/.test(before.text) || (next !== ' ' && next !== '=')
}
