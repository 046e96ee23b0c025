/** The kinds of values that settings take: how each is read from text, and in words what is expected. */

import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { KEY_FIELDS_RULE, keyFieldsFlaw } from '../contract/key.ts'
import { normalizeBaseUrl } from '../contract/link.ts'
import { isCollectionName, NAME_RULE } from '../contract/name.ts'
import { isTokenName, parseScope, SCOPE_RULE, TOKEN_NAME_RULE } from '../contract/scope.ts'
import { isNetwork, NETWORK_RULE } from '../service/client-address.ts'
import { ORIGIN_RULE, parseOrigin } from '../service/cors.ts'
import type { RateLimit } from '../service/rate-limit.ts'
import { DataLocation } from './data-location.ts'

export interface SettingKind<T> {
  /** What stands for the value in the flag, such as `file`. Undefined for a switch, which takes none. */
  readonly placeholder: string | undefined
  /** What is allowed, in words that follow "expected". */
  readonly expected: string
  /** Reads a value. For one that is not allowed: undefined, or a TypeError with a message of its own. */
  readonly parse: (text: string) => T | undefined
  /** Whether the flag can be repeated. The values are then joined with commas, as they stand in the variable. */
  readonly isList?: true
  /** For shell completion. */
  readonly suggestions?: Suggestions
}

/** What a shell can suggest: names of files, or all values that are allowed. */
export type Suggestions = 'files' | readonly string[]

/** Any text but the empty one. */
export function text(placeholder: string): SettingKind<string> {
  return { placeholder, expected: 'a value that is not empty', parse: (value) => value || undefined }
}

export const FILE: SettingKind<string> = { ...text('file'), suggestions: 'files' }

/** A switch takes no value on the command line; in the environment it is spelled out. */
export const SWITCH: SettingKind<boolean> = {
  placeholder: undefined,
  expected: '1 or true, 0 or false',
  parse: (value) => ({ '1': true, true: true, '0': false, false: false })[value.toLowerCase()],
}

export const STORE: SettingKind<DataLocation> = {
  placeholder: 'store',
  suggestions: 'files',
  expected: 'a path such as reams.db, or postgres://user@host/database',
  parse: (value) => locationIn(value, ['postgres'], 'A store is a path or a postgres:// URL'),
}

/** Where tables are. */
export const DATABASE: SettingKind<DataLocation> = {
  placeholder: 'database',
  suggestions: 'files',
  expected: 'postgres://user@host/database, mysql://user@host/database, or the path of an SQLite file',
  parse: (value) =>
    locationIn(value, ['postgres', 'mysql'], 'A database is postgres://…, mysql://… or the path of an SQLite file'),
}

/** Anything but the URL of a database may hold a password, and is refused without being shown; unless there is such a file. */
function locationIn(value: string, engines: readonly string[], rule: string): DataLocation | undefined {
  if (value === '') return undefined
  const location = new DataLocation(value)
  if (engines.includes(location.engine) || existsSync(value)) return location
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value) ?? []
  if (scheme !== undefined) throw new TypeError(`${rule}, not a ${scheme}:// URL.`)
  if (/:\/\/|^[^/]*:[^/]*@|\/\/[^/]*@|password\s*=/i.test(value))
    throw new TypeError(`${rule}. This looks like neither; it is not shown, because there may be a password in it.`)
  return location
}

/** A comma within quotes is a part of a name. */
export const TABLES: SettingKind<readonly string[]> = {
  placeholder: 'name',
  expected: 'a table such as events or public.events',
  isList: true,
  parse: (value) => {
    const names = value.match(/(?:"[^"]*"|`[^`]*`|[^,])+/g)?.map((name) => name.trim()) ?? []
    return names.length === 0 || names.includes('') ? undefined : names
  },
}

/** A semicolon at its end is no second statement. */
export const QUERY: SettingKind<string> = {
  placeholder: 'sql',
  expected: 'a SELECT',
  parse: (value) => value.replace(/[;\s]+$/, '') || undefined,
}

/** A host name or an address; an IPv6 address may stand in brackets, as in a URL. */
export const HOST: SettingKind<string> = {
  placeholder: 'address',
  expected: 'a host name or an address such as 127.0.0.1, ::1 or 0.0.0.0',
  parse: (value) => /^\[([0-9a-f:.]+)\]$/i.exec(value)?.[1] ?? (/^[0-9a-z:._-]+$/i.test(value) ? value : undefined),
}

export const BASE_URL: SettingKind<string> = {
  placeholder: 'url',
  expected: 'an absolute http or https URL without query and fragment',
  parse: normalizeBaseUrl,
}

export const KEY_FIELDS: SettingKind<string> = {
  placeholder: 'field',
  expected: KEY_FIELDS_RULE,
  parse: (value) => {
    const flaw = keyFieldsFlaw(value)
    if (flaw !== undefined) throw new TypeError(`"${value}": ${flaw}.`)
    return value
  },
}

/** By the name that TextDecoder gives it. */
export const ENCODING: SettingKind<string> = {
  placeholder: 'name',
  expected: 'an encoding such as windows-1252, iso-8859-2, utf-16le or shift_jis',
  parse: (value) => {
    try {
      return new TextDecoder(value).encoding
    } catch {
      return undefined
    }
  },
}

/** A tab is hard to type in a shell. */
export const DELIMITER: SettingKind<string> = {
  placeholder: 'char',
  expected: 'one character such as , or ; or |, not a letter, digit or quote; or tab',
  parse: (value) => (value === 'tab' || value === '\\t' ? '\t' : /^[^\p{L}\p{N}"\r\n\P{ASCII}]$/u.exec(value)?.[0]),
}

export const TOKEN_NAME: SettingKind<string> = {
  placeholder: 'name',
  expected: TOKEN_NAME_RULE,
  parse: (value) => (isTokenName(value) ? value : undefined),
}

/** Kept as it was written, which is how help and documentation show the default. Six digits at most still give a date. */
export const LIFETIME: SettingKind<string> = {
  placeholder: 'time',
  expected: 'a number of minutes, hours or days such as 30m, 12h or 90d (up to 999999), or never',
  parse: (value) => (/^(never|[1-9][0-9]{0,5}[mhd])$/.test(value) ? value : undefined),
}

const RETENTION_UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** In milliseconds. */
export const RETENTION: SettingKind<number> = {
  placeholder: 'time',
  expected: 'a number of seconds, minutes, hours or days such as 90s, 30m, 12h or 7d (up to 999999), or 0',
  parse: (value) => {
    const [, digits = '', unit = ''] = /^([1-9][0-9]{0,5})([smhd])$/.exec(value) ?? []
    return value === '0' ? 0 : Number(digits) * (RETENTION_UNIT_MS[unit] ?? Number.NaN) || undefined
  },
}

const BYTE_UNITS = ['', 'KiB', 'MiB', 'GiB', 'TiB']

export const BYTES: SettingKind<number> = {
  placeholder: 'size',
  expected: 'a size such as 512MiB or 2GiB (KiB, MiB, GiB, TiB), or a number of bytes, from 1 to 9999TiB',
  parse: (value) => {
    const [, digits = '', unit = ''] = /^([1-9][0-9]{0,15})([KMGT]iB)?$/.exec(value) ?? []
    const bytes = Number(digits) * 1024 ** BYTE_UNITS.indexOf(unit)
    return bytes > 0 && bytes <= 9999 * 1024 ** 4 ? bytes : undefined
  },
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const MAX_DURATION_MS = 60 * 60_000
/** Timers take no more than 24 days. */
const MAX_INTERVAL_MS = 20 * 24 * 3_600_000

/** Kept as it was written, for help and documentation; `durationMs` reads it. */
export const DURATION: SettingKind<string> = {
  placeholder: 'time',
  expected: 'a time such as 500ms, 10s or 5m, at most 60m',
  parse: (value) => (!value.endsWith('h') && durationMs(value) <= MAX_DURATION_MS ? value : undefined),
}

/** The same, for what is done again and again. */
export const INTERVAL: SettingKind<string> = {
  placeholder: 'time',
  expected: 'a time such as 200ms, 5s, 10m or 24h, at least 10ms and at most 480h',
  parse: (value) => (durationMs(value) >= 10 && durationMs(value) <= MAX_INTERVAL_MS ? value : undefined),
}

/** NaN for what is not a duration. */
export function durationMs(text: string): number {
  const [, digits, unit] = /^([0-9]{1,7})(ms|s|m|h)$/.exec(text) ?? []
  return unit === undefined ? Number.NaN : Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

export function wholeNumber(min: number, max: number, placeholder = 'number'): SettingKind<number> {
  return {
    placeholder,
    expected: `a whole number from ${min} to ${max}`,
    parse: (value) => {
      const number = /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? number : undefined
    },
  }
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

export const RATE: SettingKind<RateLimit> = {
  placeholder: 'n/s',
  expected: 'a number per second, minute or hour such as 100/s, 600/m or 10000/h (1 to 999999999)',
  parse: (value) => {
    const [, requests, unit = ''] = /^([1-9][0-9]{0,8})\/([smh])$/.exec(value) ?? []
    const seconds = UNIT_SECONDS[unit]
    return seconds === undefined ? undefined : { requests: Number(requests), seconds }
  },
}

const MAX_WORKERS = 256

/** `auto` is one for each core. */
export const WORKERS: SettingKind<number> = {
  placeholder: 'number',
  expected: `a whole number from 1 to ${MAX_WORKERS}, or auto`,
  parse: (value) => (value === 'auto' ? availableParallelism() : wholeNumber(1, MAX_WORKERS).parse(value)),
}

export function oneOf<const T extends string>(placeholder: string, ...values: readonly T[]): SettingKind<T> {
  return {
    placeholder,
    expected: `one of ${values.join(', ')}`,
    suggestions: values,
    parse: (value) => values.find((each) => each === value),
  }
}

/** Each value of a list once. Blanks around a value are not part of it. */
function listOf(placeholder: string, expected: string, isValid: (value: string) => boolean) {
  return {
    placeholder,
    expected: `${expected}; or several, separated by commas`,
    isList: true,
    parse: (list: string) => {
      const values = new Set(list.split(',').map((value) => value.trim()))
      return [...values].every(isValid) ? [...values] : undefined
    },
  } satisfies SettingKind<readonly string[]>
}

/** Names of collections. Other servers may allow more than ours, but a name is always one segment of a path. */
export const COLLECTION: SettingKind<string> = {
  placeholder: 'name',
  expected: NAME_RULE,
  parse: (value) => (isCollectionName(value) ? value : undefined),
}

export const COLLECTIONS = listOf('name', 'a name', (name) => /^(?!\.{1,2}$)[^/?#]+$/.test(name))
export const COLUMNS = listOf('names', 'the name of a field', (name) => name !== '')
export const ORIGINS = listOf(
  'url',
  'a URL such as https://api.example.com',
  (url) => /^https?:/.test(url) && URL.canParse(url),
)
export const NETWORKS = listOf('network', NETWORK_RULE, isNetwork)
const SOME_ORIGINS = listOf('url', ORIGIN_RULE, (url) => url === '*' || parseOrigin(url) !== undefined)
/** An asterisk stands for all, so others beside it are a mistake. */
export const CORS_ORIGINS: SettingKind<readonly string[]> = {
  ...SOME_ORIGINS,
  parse: (list) => {
    const origins = SOME_ORIGINS.parse(list)
    return origins?.includes('*') && origins.length > 1 ? undefined : origins
  },
}
export const SCOPES = listOf('scope', SCOPE_RULE, (scope) => parseScope(scope) !== undefined)
