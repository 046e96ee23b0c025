import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import type { Store } from '../../src/store/store.ts'
import { BASE, fill, numbered, openService } from './open-service.ts'

const BROWSER = { Accept: 'text/html,application/xhtml+xml' }

/** The same store, of which a part cannot be reached. */
function partOf(store: Store): Store {
  const away = ['node2:5432']
  const answers: Partial<Store> = {
    reachable: async () => ({ heads: (await store.collections()).filter(({ name }) => name === 'here'), away }),
    ping: async () => away,
  }
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(answers, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('a service on a store of which a part is away', () => {
  it('says so in the entry, on its page and in its health, without naming a server', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'here', numbered(3))
    await fill(store, 'there', numbered(3))
    const { fetch } = createService({ store: partOf(store) })
    const ask = async (path: string, headers = {}) => fetch(new Request(BASE + path, { headers }))

    const entry = (await (await ask('/')).json()) as { incomplete?: boolean; _embedded: { collections: object[] } }
    assert.equal(entry.incomplete, true)
    assert.equal(entry._embedded.collections.length, 1)
    const html = await (await ask('/', BROWSER)).text()
    assert.match(html, /and perhaps more: a part of the store is away/)
    const health = await ask('/-/health')
    assert.deepEqual([health.status, await health.text()], [200, '{"status":"degraded"}\n'])
    for (const text of [JSON.stringify(entry), html]) assert.doesNotMatch(text, /node2/)

    const whole = await (await get('/')).text()
    assert.doesNotMatch(whole, /incomplete/)
    assert.doesNotMatch(await (await get('/', BROWSER)).text(), /perhaps more/)
    assert.equal(await (await get('/-/health')).text(), '{"status":"ok"}\n')
  })
})
