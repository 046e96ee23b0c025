/** Everybody whom the table of access (D19) speaks of, by the words that it has for them. */

import type { Headers, WriteServer } from './write-server.ts'

export interface Caller {
  readonly who: string
  readonly headers: Headers
  /** For a token where none belongs. */
  readonly query?: string
}

/** All kinds of callers that one row stands for. `names` are the collections that "it" means. */
export async function callersOf(row: string, tokenOf: WriteServer['tokenOf'], names: readonly string[]) {
  const withScopes = async (...scopes: string[]): Promise<Caller> => ({
    who: scopes.join(' ') || 'no scope',
    headers: await tokenOf(scopes),
  })
  const onEach = (action: string) => withScopes(...names.map((name) => `${action}:${name}`))
  switch (row.replace(/[:,].*/, '')) {
    case 'a bad token':
      return badTokens(tokenOf)
    case 'no token':
      return misplacedTokens((await tokenOf(['admin'])).Authorization)
    case 'a good token':
    case 'a good token without a scope on it':
      return [
        await withScopes(),
        await withScopes('read:other', 'write:other', 'create:other'),
        await withScopes('read:event', 'write:events2', 'create:', 'write', '*', 'write:Events', 'Admin'),
      ]
    case '`read':
      return [await onEach('read'), await withScopes('read:*')]
    case '`write':
      return [await onEach('write'), await withScopes('write:*'), lowerCase(await withScopes('write:*'))]
    case '`create':
      return [await onEach('create'), await withScopes('create:*'), await withScopes('admin')]
    default:
      throw new Error(`Nobody is known as ${row}.`)
  }
}

function lowerCase({ headers }: Caller): Caller {
  const authorization = String(headers['Authorization']).replace('Bearer ', 'bearer  ')
  return { who: 'bearer in lower case', headers: { Authorization: authorization } }
}

function misplacedTokens(admin: string): Caller[] {
  const token = admin.slice('Bearer '.length)
  const query = `access_token=${token}&token=${token}&authorization=${encodeURIComponent(admin)}`
  return [
    { who: 'nobody', headers: { Authorization: '' } },
    { who: 'a token in the query', headers: { Authorization: '' }, query },
    { who: 'a token in other headers', headers: { Authorization: '', Cookie: `token=${token}`, 'X-Token': token } },
  ]
}

async function badTokens(tokenOf: WriteServer['tokenOf']): Promise<Caller[]> {
  const { Authorization: admin } = await tokenOf(['admin'])
  const headers: Readonly<Record<string, Headers>> = {
    'no token behind Bearer': { Authorization: 'Bearer' },
    'a malformed token': { Authorization: 'Bearer x' },
    Basic: { Authorization: 'Basic YTpi' },
    'a token without a scheme': { Authorization: admin.slice('Bearer '.length) },
    'a token with more behind it': { Authorization: `${admin}x` },
    'two tokens': { Authorization: `${admin}, ${admin}` },
    'two headers': { Authorization: [admin, admin] },
    'an unknown token': { Authorization: `Bearer reams_${'A'.repeat(43)}` },
    'an expired token': await tokenOf(['admin'], { expiresAt: Date.now() - 1 }),
    'a revoked token': await tokenOf(['admin'], { revokedAt: Date.now() - 1 }),
  }
  return Object.entries(headers).map(([who, each]) => ({ who, headers: each }))
}
