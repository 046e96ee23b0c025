/** Takes out of texts for the log what must not be in one: tokens, passwords of databases, what authorizes a request. */

import { hideTokens } from '../../../contract/scope.ts'
import type { SettingValues } from '../../setting-values.ts'

/** A shorter one may well be a word like any other: it is hidden only where it is known for a password by its place. */
const MIN_SECRET = 6

/** `postgres://user:password@host`, `password=…`, `Bearer …`. */
const BY_PLACE: readonly RegExp[] = [
  /(\/\/[^\s:/@]*:)[^\s/]*(?=@)/g,
  /(password=)[^\s&'"]+/gi,
  /(\b(?:bearer|basic|digest)[\s+]+)[^\s/'"]+/gi,
]
/** Without one of these none of them is there. */
const MAY_HOLD_SECRET = /[@=\s+]/

/** The locations that were given, for workers: they do not stand in their arguments. */
export const LOCATIONS_VARIABLE = 'REAMS_WORKER_LOCATIONS'

/** A line each, as they were given. */
export function locationsIn(settings: SettingValues): string {
  return [settings.get('store'), settings.get('tableFrom')].map((location) => location?.reveal() ?? '').join('\n')
}

export function createRedactor(settings: SettingValues): (text: string) => string {
  const locations = (process.env[LOCATIONS_VARIABLE] ?? locationsIn(settings)).split('\n')
  const known = secretsIn([
    ...locations.flatMap(passwordsIn),
    process.env['PGPASSWORD'],
    process.env['MYSQL_PWD'],
    process.env['REAMS_TOKEN'],
  ])
  const hide = (text: string): string => {
    let shown = hideTokens(text)
    for (const secret of known) if (shown.includes(secret)) shown = shown.replaceAll(secret, '…')
    if (MAY_HOLD_SECRET.test(shown)) for (const place of BY_PLACE) shown = shown.replace(place, '$1…')
    return shown
  }
  return (text) => {
    const shown = hide(text)
    if (!shown.includes('%')) return shown
    const plain = decoded(shown)
    const plainShown = hide(plain)
    return plainShown === plain ? shown : plainShown
  }
}

/** As they stand in the URL. */
function passwordsIn(store: string): (string | undefined)[] {
  if (!store.includes('://')) return []
  const [, password] = /^[^:]+:\/\/[^:@/?#]*:([^/?#]*)@/.exec(store) ?? []
  const parameters = [...store.matchAll(/password=([^&#]*)/gi)].map(([, value]) => value)
  return [password, ...parameters]
}

/** As they were given, and plain. */
function secretsIn(secrets: readonly (string | undefined)[]): string[] {
  const spelled = secrets.flatMap((secret = '') => [secret, decoded(secret)])
  return [...new Set(spelled)].filter((secret) => secret.length >= MIN_SECRET)
}

/** What is not percent-encoded UTF-8 stays as it is. */
function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
