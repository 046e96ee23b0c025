/** The URL of a service or a collection, as somebody typed it: what is wrong with it, and whether it is on this machine. */

/** Without a slash at its end. */
export function withoutSlash({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/+$/, '')
}

/** Why a text cannot be the URL of a service or a collection; undefined if it can. What may be a password is not shown. */
export function urlFlaw(text: string): string | undefined {
  const shown = text.includes('@') ? 'This' : `"${text}"`
  if (!URL.canParse(text)) return `${shown} is not an absolute URL`
  const { protocol, username, password } = new URL(text)
  if (username + password !== '') return 'The URL contains a user name or a password: leave them out'
  if (!/^https?:$/.test(protocol)) return `${shown} begins with ${protocol}, expected http: or https:`
  return /[?#]/.test(text) ? 'The URL has a query or a fragment' : undefined
}

/** The names of this machine for itself, as they stand in a URL. */
export const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const

export function isLoopbackName(host: string): boolean {
  return LOOPBACK_NAMES.some((name) => name === host)
}

/** The same for the `Host` of a request. The port may be any, because of tunnels. */
export function isLoopbackHost(host: string): boolean {
  return isLoopbackName(host.replace(/:\d*$/, '').toLowerCase())
}
