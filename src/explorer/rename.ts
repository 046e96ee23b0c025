/** Gives other names to what a module declares, everywhere in it. What fields and methods are called stays. */

import type { Token } from './javascript-tokens.ts'
import { nameUses } from './name-uses.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$'
const RESERVED =
  /^(?:as|async|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|eval|false|finally|for|from|function|get|if|implements|import|in|instanceof|interface|let|new|null|of|package|private|protected|public|return|set|static|super|switch|this|throw|true|try|typeof|undefined|using|var|void|while|with|yield)$/

const DECLARATIONS = /^(?:function|class|const|let|var)$/

/** Short names, none of them twice, and none that is in use. */
export function* freshNames(used: ReadonlySet<string>): Generator<string, never> {
  for (let number = 0; ; number++) {
    let [name, rest] = ['', number]
    do {
      name = LETTERS.charAt(rest % LETTERS.length) + name
      rest = Math.floor(rest / LETTERS.length) - 1
    } while (rest >= 0)
    if (!used.has(name) && !RESERVED.test(name)) yield name
  }
}

/** `names` holds those that are declared outside of all functions, so that none of them can mean anything else. */
export function renamed(tokens: readonly Token[], names: ReadonlyMap<string, string>): Token[] {
  const uses = nameUses(tokens)
  return tokens.map((token, place) => {
    const name = uses[place] === undefined || uses[place] === 'property' ? undefined : names.get(token.text)
    if (name === undefined || name === token.text) return token
    return { ...token, text: uses[place] === 'shorthand' ? `${token.text}:${name}` : name }
  })
}

/** Short names for `#private` ones, which nothing but the classes of this module can know. */
export function withShortPrivateNames(tokens: readonly Token[]): Token[] {
  const fresh = freshNames(new Set())
  const names = new Map<string, string>()
  return tokens.map((token) => {
    if (token.kind !== 'word' || !token.text.startsWith('#')) return token
    const name = names.get(token.text) ?? `#${fresh.next().value}`
    names.set(token.text, name)
    return { ...token, text: name }
  })
}

/** The names that a module declares outside of all functions. */
export function declaredNames(tokens: readonly Token[]): string[] {
  const names: string[] = []
  let depth = 0
  for (const [place, { kind, text }] of tokens.entries()) {
    if (/[({[]$/.test(text) && (kind === 'punctuator' || kind === 'template')) depth++
    if (/^[)}\]]/.test(text) && (kind === 'punctuator' || kind === 'template')) depth--
    // A comma outside of all brackets: one declaration of several names.
    const declares = kind === 'word' ? DECLARATIONS.test(text) : text === ','
    if (depth > 0 || !declares) continue
    const name = tokens[tokens[place + 1]?.text === '*' ? place + 2 : place + 1]
    if (name?.kind !== 'word' || kind !== 'word' || RESERVED.test(name.text))
      throw new Error(`Cannot join modules with this declaration: ${text} ${name?.text}`)
    names.push(name.text)
  }
  return names
}
