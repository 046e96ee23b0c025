import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { BASE, envelopeOf, fill, numbered, sharedService } from '../service/open-service.ts'
import { numberedItems } from './correct-server.ts'
import { assertKept, complaintsOf, PAGINATED_RULES, RUNS, SIZES, skippedFor } from './kept.ts'

const lines = (count: number) => numberedItems(count).map((item) => JSON.stringify(item))

describe('our own service keeps every rule', () => {
  const service = sharedService(async (store) => {
    for (const size of SIZES) await fill(store, `n${size}`, lines(size))
    await fill(store, 'venues', lines(40), { isPaginated: false })
    await fill(store, 'events', lines(1001))
  })

  for (const size of SIZES)
    it(`in the same process, with ${size} items`, async () => {
      const { fetch } = createService({ store: service().store, baseUrl: BASE })
      assertKept(
        await checkConformance(`${BASE}/n${size}`, { fetch, strict: true, walk: true }),
        skippedFor(size, true),
      )
    })

  it('without pages', async () => {
    const { fetch } = createService({ store: service().store, baseUrl: BASE })
    assertKept(await checkConformance(`${BASE}/venues`, { fetch, strict: true }), PAGINATED_RULES)
  })

  it('in a snapshot, and in the changes since', async () => {
    const { store, get } = service()
    const { _links: links } = await envelopeOf(await get('/events'))
    const snapshot = links['snapshot']?.href ?? assert.fail('no snapshot is linked')
    await store.append('events', itemRun(numbered(501, 5_000), { keyField: 'id' }))
    const { fetch } = createService({ store, baseUrl: BASE })
    let seconds = 86_400
    const fetchSlowly = async (request: Request) => {
      const response = await fetch(request)
      const caching = response.headers.get('cache-control') ?? ''
      response.headers.set(
        'cache-control',
        caching.replace(/\d+/, () => String(seconds--)),
      )
      return response
    }
    for (const url of [snapshot, `${snapshot}..`])
      assert.deepEqual(complaintsOf(await checkConformance(url, { fetch: fetchSlowly })), [])
  })

  it('on a socket, with and without a walk', async (t) => {
    const { store } = service()
    const { port, close } = await listen({ port: 0, reply: (request) => sockets.reply(request) })
    t.after(() => close(0))
    const sockets = createService({ store, loopbackPort: port })
    for (const options of RUNS)
      assertKept(await checkConformance(`http://127.0.0.1:${port}/n1001`, options), skippedFor(1001, true))
  })
})
