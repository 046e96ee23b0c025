/** What every link begins with, and the check of it (D17). */

/**
 * Brings a base URL into the one form that links are built on: absolute, http or https, no slash at the end.
 * Throws a TypeError that says what is wrong.
 */
export function normalizeBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new TypeError(`The base URL "${text}" is not an absolute URL. ${EXAMPLE}`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`The base URL "${text}" begins with ${url.protocol}, not with http: or https:. ${EXAMPLE}`)
  if (url.username !== '' || url.password !== '')
    throw new TypeError(`The base URL holds a user name or password, which would stand in every link. ${EXAMPLE}`)
  // The one sign that a URL parser lets a host have and that would end a text in JSON.
  if (url.host.includes('"')) throw new TypeError(`The base URL ${text} has a quotation mark in its host. ${EXAMPLE}`)
  if (/[?#]/.test(text)) throw new TypeError(`The base URL "${text}" has a query or a fragment. ${EXAMPLE}`)
  return url.origin + url.pathname.replace(/\/+$/, '')
}

const EXAMPLE = 'Give one such as https://api.example.com or https://example.com/api/v1.'
