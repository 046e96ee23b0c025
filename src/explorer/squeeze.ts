/** Writes code with as few bytes as can be without understanding it: no comments, and no blank that means nothing. */

import type { Token } from './javascript-tokens.ts'

export function squeezed(tokens: readonly Token[]): string {
  let text = ''
  let before: Token | undefined
  for (const token of tokens) {
    text += before === undefined ? '' : blankBetween(before, token)
    text += token.text
    before = token
  }
  return text
}

function blankBetween(before: Token, after: Token): string {
  if (endsStatement(before, after)) return '\n'
  if (isWordLike(before) && isWordLike(after)) return ' '
  const [end, start] = [before.text.at(-1), after.text[0]]
  return end === start && /[+/-]/.test(end ?? '') ? ' ' : ''
}

/** Whether a line break between these two may end a statement: unless one of them shows that nothing ends there. */
function endsStatement(before: Token, after: Token): boolean {
  return after.isOnNewLine && !isOpen(before) && !continues(after)
}

/** Whether a statement cannot end with it. */
function isOpen({ kind, text }: Token): boolean {
  if (kind === 'template') return text.endsWith('{')
  return kind === 'punctuator' && !/^(?:[)\]}]|\+\+|--)$/.test(text)
}

/** Whether no statement, and no member of a class, begins with it. */
function continues({ kind, text }: Token): boolean {
  if (kind === 'template') return text.startsWith('}')
  return kind === 'punctuator' && /^(?:[)\]}.,;:?&|=]|\?\.|=>)$/.test(text)
}

function isWordLike({ kind, text }: Token): boolean {
  return (kind === 'word' || kind === 'number') && !text.startsWith('#')
}
