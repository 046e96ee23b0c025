/** Leaves out the functions, classes and constants of a script that nothing in it uses. */

import type { Token } from './javascript-tokens.ts'
import { endsStatement } from './squeeze.ts'

/** Every name that the script declares has to be declared once, and be the name of nothing else in it. */
export function usedStatements(tokens: readonly Token[]): Token[] {
  const statements = statementsOf(tokens)
  const declarations = new Map(statements.map((statement) => [declaredName(statement), statement]))
  const used = new Set(statements.filter((statement) => declaredName(statement) === undefined))
  for (const statement of used)
    for (const { text } of statement) {
      // A field that is named like the variable in it is one token by now: `field:name`.
      const declaration = declarations.get(text.slice(text.lastIndexOf(':') + 1))
      if (declaration !== undefined) used.add(declaration)
    }
  return statements.filter((statement) => used.has(statement)).flat()
}

function statementsOf(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = []
  let depth = 0
  for (const [place, token] of tokens.entries()) {
    const before = tokens[place - 1]
    const isFirst = depth === 0 && (before === undefined || before.text === ';' || endsStatement(before, token))
    if (isFirst) statements.push([token])
    else statements.at(-1)?.push(token)
    if (token.kind !== 'punctuator' && token.kind !== 'template') continue
    if (/^[)\]}]/.test(token.text)) depth--
    if (/[([{]$/.test(token.text)) depth++
  }
  return statements
}

/** The name that a statement declares, where it does nothing else: a constant that calls something may do more. */
function declaredName(statement: readonly Token[]): string | undefined {
  const texts = statement.map(({ text }) => text)
  const [first, name] = texts[0] === 'async' ? texts.slice(1) : texts
  if (first === 'function') return name === '*' ? undefined : name
  const isPlain = first === 'class' ? !texts.includes('static') : first === 'const' && !/[([`]/.test(texts.join(' '))
  return isPlain ? name : undefined
}
