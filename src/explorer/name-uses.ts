/** Tells the names in a piece of JavaScript that stand for something in scope from those of fields and methods. */

import type { Token } from './javascript-tokens.ts'

/** `shorthand` is a name that is both, as in `{ name }`. */
export type NameUse = 'reference' | 'property' | 'shorthand'

type Bracket = 'parenthesis' | 'array' | 'object' | 'block' | 'class' | 'value in a template'

const MODIFIERS = /^(?:static|get|set|async|\*)$/
/** Words behind which a brace opens a block, where all others are followed by an object. */
const BEFORE_BLOCK = /^(?:else|do|try|finally|catch|static)$/

/** The use of each token that is a word; undefined for the others, and for private names. */
export function nameUses(tokens: readonly Token[]): (NameUse | undefined)[] {
  const open: Bracket[] = []
  /** How many brackets were open where each class began whose body is still to come. */
  const classes: number[] = []
  /** Whether the token before is `static`, `get` or the like, in front of the name of a member. */
  let isModified = false
  return tokens.map((token, place) => {
    const [before, after] = [tokens[place - 1], tokens[place + 1]]
    if (token.kind !== 'word') {
      isModified = isModified && token.text === '*'
      follow(token, place)
      return undefined
    }
    const isMember = isModified || beginsMember(token, before, open.at(-1))
    isModified = isMember && MODIFIERS.test(token.text) && (after?.kind === 'word' || /^[*[{]$/.test(after?.text ?? ''))
    if (token.text.startsWith('#')) return undefined
    if (before?.text === '.' || before?.text === '?.') return 'property'
    if (!isMember) {
      if (token.text === 'class') classes.push(open.length)
      return 'reference'
    }
    return open.at(-1) === 'object' && /^[,}=]$/.test(after?.text ?? '') ? 'shorthand' : 'property'
  })

  function follow({ kind, text }: Token, place: number): void {
    if (kind === 'template') {
      if (text.startsWith('}')) open.pop()
      if (text.endsWith('{')) open.push('value in a template')
    } else if (text === '(') open.push('parenthesis')
    else if (text === '[') open.push('array')
    else if (text === '{') open.push(braceAt(place))
    else if (/^[)\]}]$/.test(text)) open.pop()
  }

  function braceAt(place: number): Bracket {
    if (classes.at(-1) === open.length) {
      classes.pop()
      return 'class'
    }
    return opensBlock(tokens, place, open.at(-1)) ? 'block' : 'object'
  }
}

/** Whether the name of a member of a class or an object can stand here. */
function beginsMember(token: Token, before: Token | undefined, bracket: Bracket | undefined): boolean {
  const text = before?.kind === 'punctuator' ? before.text : ''
  if (bracket === 'object') return text === '{' || text === ','
  if (bracket !== 'class') return false
  return /^[{};]$/.test(text) || (token.isOnNewLine && (before?.kind !== 'punctuator' || /^[)\]]$/.test(text)))
}

function opensBlock(tokens: readonly Token[], place: number, bracket: Bracket | undefined): boolean {
  const before = tokens[place - 1]
  if (before === undefined) return true
  if (before.kind === 'word') return BEFORE_BLOCK.test(before.text)
  if (before.kind !== 'punctuator') return before.kind !== 'template'
  if (before.text === '{') return bracket === 'block'
  if (before.text === ':') return isCase(tokens, place - 1)
  return /^(?:=>|[);}])$/.test(before.text)
}

/** Whether the colon ends a `case`: of an object or a condition it does not stand on a line that begins so. */
function isCase(tokens: readonly Token[], colon: number): boolean {
  let first = colon
  while (first > 0 && tokens[first]?.isOnNewLine !== true) first--
  return /^(?:case|default)$/.test(tokens[first]?.text ?? '')
}
