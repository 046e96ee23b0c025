import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fill, numbered } from '../open-service.ts'
import { startWriteServer, type WriteServer } from '../write-server.ts'
import { Description, type Part } from './description.ts'

/** What each operation asks for: scopes, or undefined where nobody needs a token. */
function scopesOf(operation: Part): string[] | undefined {
  const [first = {}] = operation['security'] as { readonly token?: string[] }[]
  return first.token
}

/** A request that would be right, if only the caller may. */
function requestOf(path: string, method: string, isPrivate: boolean): [path: string, body: string | undefined] {
  const target = path.replace('{problem}', 'conflict').replace('{collection}', 'events').replace('{key}', '1')
  const settings = `{"key":"id","private":${isPrivate}}`
  const put = target.endsWith('/1') ? '{"id":1}' : settings
  return [target, method === 'put' ? put : method === 'post' ? '{"id":3}' : undefined]
}

async function refill({ store }: WriteServer): Promise<void> {
  for (const { name } of await store.collections()) await store.drop(name)
  await fill(store, 'events', numbered(2))
  await fill(store, 'secret', numbered(2), { isPrivate: true })
}

describe('the security that the description names', () => {
  for (const requireToken of [false, true])
    it(`is what the service asks for, ${requireToken ? 'where everybody needs a token' : 'where reads are open'}`, async (t) => {
      const server = await startWriteServer(t, { requireToken })
      const { ask, tokenOf } = server
      await refill(server)
      const { operations } = new Description((await ask('GET', '/-/openapi.json')).text)
      for (const { path, method, id, operation } of operations) {
        const scopes = scopesOf(operation)?.map((scope) => scope.replace('{collection}', 'events'))
        const [target, body] = requestOf(path, method, path.startsWith('/secret'))
        const send = async (headers: { Authorization: string }) =>
          (await ask(method.toUpperCase(), target, body, { ...headers, 'If-Match': '*' })).status
        const alone = await send({ Authorization: '' })
        if (scopes === undefined) assert.ok(alone < 400, `${id}: ${alone} without a token`)
        else assert.ok(alone === 401 || alone === 404, `${id}: ${alone} without a token`)
        const allowed = await send(await tokenOf(scopes ?? []))
        assert.ok(allowed < 400, `${id}: ${allowed} with ${scopes}`)
        if (scopes?.some((scope) => /^(write|create)/.test(scope))) await refill(server)
      }
    })
})
