/** Tokens: their form, and what they may do: scopes (D19). */

import { isCollectionName } from './name.ts'

/** Each includes those before it. */
const ACTIONS = ['read', 'write', 'create'] as const

export type ScopeAction = (typeof ACTIONS)[number]

export interface Scope {
  /** `admin`: everything. */
  readonly action: ScopeAction | 'admin'
  /** A collection, or '*' for all of them, also those that are yet to be made. */
  readonly collection: string
}

/** The rule in words, for messages. */
export const SCOPE_RULE =
  'read:NAME, write:NAME (includes read) or create:NAME (includes write), NAME being a collection or * for all, or admin for everything'

const ALL = '*'

/** Undefined for a text that is not a scope. */
export function parseScope(text: string): Scope | undefined {
  if (text === 'admin') return { action: 'admin', collection: ALL }
  const [, word, collection = ''] = /^([a-z]+):(.*)$/.exec(text) ?? []
  const action = ACTIONS.find((each) => each === word)
  if (action === undefined || !(collection === ALL || isCollectionName(collection))) return undefined
  return { action, collection }
}

/** Whether one of the scopes allows the action. A text that is not a scope allows nothing. */
export function allows(scopes: readonly string[], action: ScopeAction, collection: string): boolean {
  return scopes.map(parseScope).some((scope) => scope !== undefined && includes(scope, action, collection))
}

function includes(scope: Scope, action: ScopeAction, collection: string): boolean {
  if (scope.action === 'admin') return true
  if (scope.collection !== ALL && scope.collection !== collection) return false
  return ACTIONS.indexOf(scope.action) >= ACTIONS.indexOf(action)
}

/** By this a token is recognised wherever it turns up, also by programs that look for secrets in source code. */
export const TOKEN_PREFIX = 'reams_'

const TOKEN = new RegExp(`^${TOKEN_PREFIX}[A-Za-z0-9_-]{43}$`)

/** Also one that lost its end: so little is missing that it could be guessed. */
const TOKEN_WITHIN = new RegExp(`${TOKEN_PREFIX}[A-Za-z0-9_-]{32,}`, 'g')

/** Whether something in the text can be a token. */
export function holdsToken(text: string): boolean {
  return text.includes(TOKEN_PREFIX) && text.search(TOKEN_WITHIN) !== -1
}

/** The text without what can be a token. */
export function hideTokens(text: string): string {
  return text.includes(TOKEN_PREFIX) ? text.replace(TOKEN_WITHIN, `${TOKEN_PREFIX}…`) : text
}

/** Whether a text can be a token: the prefix, and 256 bits as base64url. */
export function isTokenForm(text: string): boolean {
  return TOKEN.test(text)
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** The rule in words, for messages. */
export const TOKEN_NAME_RULE = '1 to 64 of a-z A-Z 0-9 _ - . and the first one a letter or a digit'

/** Whether a token can have that name. */
export function isTokenName(text: string): boolean {
  return NAME.test(text)
}
