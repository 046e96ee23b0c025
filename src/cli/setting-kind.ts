/** The kinds of values that settings take: how each is read from text, and in words what is allowed. */

import { availableParallelism } from 'node:os'
import { normalizeBaseUrl } from '../contract/link.ts'
import { parseScope, SCOPE_RULE } from '../contract/scope.ts'
import { isTokenName, TOKEN_NAME_RULE } from '../contract/token.ts'
import { StoreLocation } from './store-location.ts'
import { isLifetime, LIFETIME_RULE } from './token/lifetime.ts'

export interface SettingKind<T> {
  /** What is allowed, in words that follow "Give". */
  readonly allowed: string
  /** Reads a value; undefined, or an error with a reason of its own, for what is not allowed. */
  readonly parse: (text: string) => T | undefined
  /** Whether the flag can be given more than once; what was given is then joined with commas. */
  readonly isList?: true
}

export const TEXT: SettingKind<string> = {
  allowed: 'a value that is not empty',
  parse: (text) => (text === '' ? undefined : text),
}

/** What begins like a URL is none but that of a database: else a password in it would be shown as part of a path. */
export const STORE: SettingKind<StoreLocation> = {
  allowed: 'a path such as reams.db, or postgres://user@host/database',
  parse: (text) => {
    const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? []
    const location = new StoreLocation(text)
    if (scheme !== undefined && !location.isDatabase)
      throw new TypeError(`A store is a path, or a URL that begins with postgres://, not with ${scheme}://.`)
    return text === '' ? undefined : location
  },
}

/** Takes no value on the command line; in the environment it is spelled out. */
export const SWITCH: SettingKind<boolean> = {
  allowed: '1 or true, 0 or false',
  parse: (text) => ({ '1': true, true: true, '0': false, false: false })[text.toLowerCase()],
}

/** A host name or an address; an IPv6 address may stand in brackets, as in a URL. */
export const HOST: SettingKind<string> = {
  allowed: 'a host name or an address such as 127.0.0.1, ::1 or 0.0.0.0',
  parse: (text) => /^\[([0-9a-f:.]+)\]$/i.exec(text)?.[1] ?? (/^[0-9a-z:._-]+$/i.test(text) ? text : undefined),
}

export const BASE_URL: SettingKind<string> = {
  allowed: 'an absolute http or https URL without query and fragment',
  parse: normalizeBaseUrl,
}

/** Names of collections. Other servers may allow more than ours, but a name is always one segment of a path. */
export const NAMES: SettingKind<readonly string[]> = {
  allowed: 'a name, or several with commas between them',
  isList: true,
  parse: (text) => {
    const names = text.split(',').map((name) => name.trim())
    return names.every((name) => /^(?!\.{1,2}$)[^/?#]+$/.test(name)) ? [...new Set(names)] : undefined
  },
}

/** Names of fields. Blanks around them are not part of them. */
export const COLUMNS: SettingKind<readonly string[]> = {
  allowed: 'a name, or several with commas between them',
  isList: true,
  parse: (text) => {
    const names = text.split(',').map((name) => name.trim())
    return names.includes('') ? undefined : [...new Set(names)]
  },
}

export const ORIGINS: SettingKind<readonly string[]> = {
  allowed: 'a URL such as https://api.example.com, or several with commas between them',
  isList: true,
  parse: (text) => {
    const urls = text.split(',').map((url) => url.trim())
    return urls.every((url) => URL.canParse(url) && /^https?:/.test(url)) ? urls : undefined
  },
}

export const TOKEN_NAME: SettingKind<string> = {
  allowed: TOKEN_NAME_RULE,
  parse: (text) => (isTokenName(text) ? text : undefined),
}

/** Scopes of a token. Of several the one at fault is named. */
export const SCOPES: SettingKind<readonly string[]> = {
  allowed: `${SCOPE_RULE}; or several with commas between them`,
  isList: true,
  parse: (text) => {
    const scopes = text.split(',').map((scope) => scope.trim())
    const wrong = scopes.find((scope) => parseScope(scope) === undefined)
    if (wrong !== undefined) throw new TypeError(`"${wrong}" is not a scope. Give ${SCOPE_RULE}.`)
    return [...new Set(scopes)]
  },
}

/** Kept as it was written, which is how help and documentation show the default. */
export const LIFETIME: SettingKind<string> = {
  allowed: LIFETIME_RULE,
  parse: (text) => (isLifetime(text) ? text : undefined),
}

export function wholeNumber(least: number, most: number): SettingKind<number> {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= least && value <= most ? value : undefined
    },
  }
}

const MAX_WORKERS = 256

/** `auto` is one for each core. */
export const WORKERS: SettingKind<number> = {
  allowed: `a whole number from 1 to ${MAX_WORKERS}, or auto`,
  parse: (text) => (text === 'auto' ? availableParallelism() : wholeNumber(1, MAX_WORKERS).parse(text)),
}

export function oneOf<const T extends string>(...values: readonly T[]): SettingKind<T> {
  return {
    allowed: `one of ${values.join(', ')}`,
    parse: (text) => values.find((value) => value === text),
  }
}
