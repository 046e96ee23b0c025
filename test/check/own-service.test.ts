import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { createService, type Service } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { BASE, envelopeOf, fill, numbered, openService } from '../service/open-service.ts'
import { numberedItems } from './correct-server.ts'
import { assertKept, PAGINATED_RULES, RUNS, SIZES, skippedFor } from './kept.ts'

describe('our own service keeps every rule', () => {
  const lines = (count: number) => numberedItems(count).map((item) => JSON.stringify(item))

  for (const size of SIZES)
    it(`in the same process, with ${size} items`, async (t) => {
      const { store } = await openService(t)
      await fill(store, 'events', lines(size))
      const { fetch } = createService({ store, baseUrl: BASE })
      for (const options of RUNS)
        assertKept(await checkConformance(`${BASE}/events`, { fetch, ...options }), skippedFor(size, true))
    })

  it('without pages', async (t) => {
    const { store } = await openService(t)
    await fill(store, 'venues', lines(40), { isPaginated: false })
    const { fetch } = createService({ store, baseUrl: BASE })
    assertKept(await checkConformance(`${BASE}/venues`, { fetch, strict: true }), PAGINATED_RULES)
  })

  it('in a snapshot, and in the changes since', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', lines(1001))
    const { _links: links } = await envelopeOf(await get('/events'))
    const snapshot = links['snapshot']?.href ?? assert.fail('no snapshot is linked')
    await store.append('events', itemRun(numbered(501, 5_000), { keyField: 'id' }))
    const { fetch } = createService({ store, baseUrl: BASE })
    for (const url of [snapshot, `${snapshot}..`]) {
      const { rules } = await checkConformance(url, { fetch })
      assert.deepEqual(
        rules.filter(({ status }) => status === 'warn' || status === 'fail'),
        [],
      )
    }
  })

  it('on a socket, with a walk', async (t) => {
    const { store } = await openService(t)
    await fill(store, 'events', lines(1001))
    let service: Service | undefined
    const reply: Service['reply'] = (request) => service?.reply(request) ?? assert.fail()
    const { port, close } = await listen({ port: 0, reply })
    t.after(() => close(0))
    service = createService({ store, loopbackPort: port })
    for (const options of RUNS)
      assertKept(await checkConformance(`http://127.0.0.1:${port}/events`, options), skippedFor(1001, true))
  })
})
