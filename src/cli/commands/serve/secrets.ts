/** Takes out of texts for the log what must not be in one: tokens, passwords of databases, what authorizes a request. */

import { hideTokens } from '../../../contract/scope.ts'
import type { SettingValues } from '../../setting-values.ts'

/** A shorter one may well be a word like any other: it is hidden only where it is known for a password by its place. */
const MIN_SECRET = 8

/** `postgres://user:password@host`, `password=…`, `Bearer …`, also percent-encoded. */
const BY_PLACE: readonly RegExp[] = [
  /(:\/\/[^\s:/@]*:)[^\s/]*(?=@)/g,
  /(password(?:=|%3d))[^\s&'"]+/gi,
  /(\b(?:bearer|basic|digest)(?:\s|%20|\+)+)[^\s/'"]+/gi,
]
const MAY_HOLD_SECRET = /@|%40|password|bearer|basic|digest/i

export function createRedactor(settings: SettingValues): (text: string) => string {
  const known = secretsIn([
    ...passwordsIn(settings.get('store').reveal()),
    process.env['PGPASSWORD'],
    process.env['REAMS_TOKEN'],
  ])
  return (text) => {
    let shown = hideTokens(text)
    for (const secret of known) if (shown.includes(secret)) shown = shown.replaceAll(secret, '…')
    if (MAY_HOLD_SECRET.test(shown)) for (const place of BY_PLACE) shown = shown.replace(place, '$1…')
    return shown
  }
}

/** As they stand in the URL. */
function passwordsIn(store: string): (string | undefined)[] {
  if (!store.includes('://')) return []
  const [, password] = /^[^:]+:\/\/[^:@/?#]*:([^@]*)@/.exec(store) ?? []
  const parameters = [...store.matchAll(/password=([^&#]*)/gi)].map(([, value]) => value)
  return [password, ...parameters]
}

/** In every spelling in which they could turn up. */
function secretsIn(secrets: readonly (string | undefined)[]): string[] {
  const spelled = secrets.flatMap((secret = '') => {
    const plain = decoded(secret)
    return [secret, plain, encodeURIComponent(plain), encodeURI(plain)]
  })
  return [...new Set(spelled)].filter((secret) => secret.length >= MIN_SECRET)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
