/** Which base URL stands in the links of an answer: the one that was set, but for one case on loopback (D17). */

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/** Undefined for a host that this service does not answer for. */
export type BaseUrlOf = (host: string | null) => string | undefined

/** The path of a base URL; empty, or begins with a slash and ends without one. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '')
}

/**
 * Without `loopbackPort` the answer is always `baseUrl`: no header ever reaches a link. With it, a Host that is exactly
 * one of our own loopback names picks which of them stands in the links. A name that is none of them comes from a web page
 * whose host was made to point here, to read what only this machine can reach (DNS rebinding). Any port will do, because
 * of tunnels.
 */
export function createBaseUrlOf(baseUrl: string, loopbackPort: number | undefined): BaseUrlOf {
  if (loopbackPort === undefined) return () => baseUrl
  const byHost = new Map<string | null, string>([[null, baseUrl]])
  for (const host of LOOPBACK_HOSTS) {
    const own = new URL(`http://${host}:${loopbackPort}`).origin + basePathOf(baseUrl)
    byHost.set(`${host}:${loopbackPort}`, own)
    if (loopbackPort === 80) byHost.set(host, own)
  }
  return (host) => byHost.get(host) ?? (isLoopbackName(host ?? '') ? baseUrl : undefined)
}

function isLoopbackName(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host.replace(/:\d*$/, '').toLowerCase())
}
