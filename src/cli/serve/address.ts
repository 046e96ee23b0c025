/** Where the server listens and what its links begin with: the rules (D17), and what to do when the port cannot be had. */

import { Failure, isSystemError } from '../failure.ts'
import type { SettingValues } from '../setting-values.ts'

/** As they stand in a URL. */
const LOOPBACK_HOSTS: ReadonlyMap<string, string> = new Map([
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['::1', '[::1]'],
])

/** Beyond loopback only the user knows the address that clients use. */
export function checkAddress(settings: SettingValues): void {
  const host = settings.get('host')
  if (settings.get('baseUrl') !== undefined || LOOPBACK_HOSTS.has(host)) return
  throw new Failure(
    2,
    `To listen on ${host} Reams must know the address that clients use, for the links. Add it, such as --base-url https://api.example.com or --base-url http://192.0.2.10:${settings.get('port')}.`,
  )
}

/** The base URL where none is set. A request by another loopback name is answered by that name. */
export function defaultBaseUrl(port: number): string {
  return localUrl('127.0.0.1', port)
}

/** Where a server on a loopback host can be reached. */
export function localUrl(host: string, port: number): string {
  return new URL(`http://${LOOPBACK_HOSTS.get(host) ?? host}:${port}`).origin
}

export function explainListenError(error: unknown, settings: SettingValues, port = settings.get('port')): unknown {
  if (!isSystemError(error)) return error
  const host = settings.get('host')
  const reason = REASONS[error.code]
  if (reason === undefined) return error
  return new Failure(2, reason(host, port), { cause: error })
}

const notAnAddress = (host: string): string =>
  `This machine has no address "${host}". Give one of its own with --host, or 127.0.0.1.`

const REASONS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} on ${host} is in use. Stop the program that uses it, or take another: --port ${port === 65_535 ? 8080 : port + 1}, or --port 0 for any free one.`,
  EACCES: (host, port) =>
    `No permission to listen on port ${port} of ${host}. Ports below 1024 are for administrators: take a higher one, such as --port 8080.`,
  EADDRNOTAVAIL: notAnAddress,
  ENOTFOUND: notAnAddress,
  EAI_AGAIN: notAnAddress,
  EINVAL: notAnAddress,
}
