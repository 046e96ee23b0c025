/** What the servers under fuzz hold, how they are set up, and who may do what there. */

import { hash } from 'node:crypto'
import { DataLocation } from '../../src/cli/data-location.ts'
import { withStore } from '../../src/cli/open-store.ts'
import { TOKEN_PREFIX } from '../../src/contract/scope.ts'
import { fill } from '../service/open-service.ts'

/** With the key `id`; read, put and deleted. */
export const EVENTS = 'events'
/** Without a key; only appended to, and checked item by item at the end. */
export const LOG = 'log'
/** Unpaginated. */
export const VENUES = 'venues'
/** Private. */
export const SECRETS = 'secrets'
/** Written to by requests that may be accepted or not; nobody reads it. */
export const DUMP = 'dump'
/** Never written to: what the bystander reads. */
export const STILL = 'still'

export const EVENT_COUNT = 1234

/** In every item of the private collection, and nowhere else. */
export const SECRET = 'for-authorized-eyes-only'

/** Not random: the bytes of a case must be the same in every run. */
function tokenOf(name: string): string {
  return TOKEN_PREFIX + hash('sha256', `fuzz ${name}`, 'base64url')
}

export const TOKENS = {
  writer: { token: tokenOf('writer'), scopes: ['create:*'] },
  reader: { token: tokenOf('reader'), scopes: ['read:*'] },
  stranger: { token: tokenOf('stranger'), scopes: ['read:nothing'] },
  expired: { token: tokenOf('expired'), scopes: ['admin'], expiresAt: 1 },
  revoked: { token: tokenOf('revoked'), scopes: ['admin'], revokedAt: 1 },
} as const

/** In the form of a token, and in no store. */
export const UNKNOWN_TOKEN = tokenOf('unknown')

/** A server's settings, as far as requests depend on them. */
export interface Site {
  readonly name: string
  /** What follows `reams serve`, besides store and port. */
  readonly words: readonly string[]
  readonly requiresToken: boolean
  /** The path of the base URL. */
  readonly basePath: string
  readonly bodyBytes: number
  readonly itemBytes: number
}

const USUAL = { requiresToken: false, basePath: '', bodyBytes: 64 * 1024 * 1024, itemBytes: 256 * 1024 }

/** Small, so that a full cache does not look like a leak. */
const CACHE_BYTES = 16_000_000

export const SITES: readonly [Site, ...Site[]] = [
  { ...USUAL, name: 'plain', words: ['--cache-bytes', `${CACHE_BYTES}`] },
  { ...USUAL, name: 'closed', words: ['--require-token', '--cache-bytes', '0'], requiresToken: true },
  {
    ...USUAL,
    name: 'proxied',
    words: [
      ...['--base-url', 'http://127.0.0.1/data/v1', '--cache-bytes', `${CACHE_BYTES}`],
      ...['--body-bytes', '200000', '--item-bytes', '20000'],
    ],
    basePath: '/data/v1',
    bodyBytes: 200_000,
    itemBytes: 20_000,
  },
]

export function makeStore(path: string): Promise<void> {
  return withStore(new DataLocation(path), { create: true }, async (store) => {
    const numbered = (count: number, member: string) =>
      Array.from({ length: count }, (_, index) => `{"id":${index + 1},${member}}`)
    const events = numbered(EVENT_COUNT, '"name":"Item"')
    await fill(store, EVENTS, events)
    await fill(store, STILL, events)
    await fill(store, LOG, [], { keyField: null })
    await fill(store, DUMP, [], { keyField: null })
    await fill(store, VENUES, numbered(20, '"name":"Hall"'), { isPaginated: false, keyField: null })
    await fill(store, SECRETS, numbered(20, `"text":"${SECRET}"`), { isPrivate: true })
    const dates = { createdAt: 0, expiresAt: null, revokedAt: null }
    for (const [name, { token, ...rest }] of Object.entries(TOKENS))
      await store.addToken({ name, hash: hash('sha256', token), ...dates, ...rest })
  })
}
