import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { describe, it } from 'node:test'
import { Client } from 'ketting'
import { checkConformance } from '../../src/check/index.ts'
import { openCollection } from '../../src/client/index.ts'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { type Closer, fill, openService, shared } from '../service/open-service.ts'

interface Linked {
  readonly id: number
}

/** The service on a socket, with items that are HAL resources themselves: Ketting takes only what has a link to itself. */
async function serveResources(t: Closer, count: number): Promise<string> {
  const { store } = await openService(t)
  const { port, close } = await listen({ reply: (request) => service.reply(request), port: 0 })
  t.after(async () => void (await close()))
  const base = `http://127.0.0.1:${port}`
  const service = createService({ store, loopbackPort: port })
  const items = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    _links: { self: { href: `${base}/events/${index + 1}` } },
  }))
  const lines = items.map((item) => JSON.stringify(item))
  await fill(store, 'events', lines)
  return base
}

describe('Ketting, a client of HAL services', () => {
  const origin = shared((t) => serveResources(t, 1234))

  it('finds the collection from the entry point, and reads all of it by its links', async () => {
    let [page] = await new Client(`${origin()}/`).go().followAll('collections')
    const ids: number[] = []
    while (page !== undefined) {
      const state = await page.refresh()
      assert.equal(state.data.item_count, 1234)
      ids.push(...state.getEmbedded().map(({ data }) => data.id))
      page = state.links.has('next') ? await page.follow('next') : undefined
    }
    const expected = Array.from({ length: 1234 }, (_, index) => index + 1)
    assert.deepEqual(ids, expected)
  })

  it('goes to the ends and back, and from an item of a page to the item itself', async () => {
    const base = origin()
    const first = new Client(`${base}/`).go('events')
    const last = await first.follow('last')
    assert.equal(last.uri, `${base}/events?page=3`)
    const before = await last.follow('prev')
    assert.equal(before.uri, `${base}/events?page=2`)
    assert.equal((await before.follow('first')).uri, `${base}/events`)
    const [item] = await first.followAll<Linked>('events')
    assert.equal(item?.uri, `${base}/events/1`)
    assert.equal((await item?.refresh())?.data.id, 1)
  })
})

const PYTHON = spawnSync('python3', ['--version']).status === 0

/** A server that was written from the contract alone. */
async function startPython(t: Closer): Promise<string> {
  const script = join(import.meta.dirname, 'contract-server.py')
  const child = spawn('python3', [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(async () => {
    const ended = once(child, 'exit')
    child.stdin.end()
    await ended
  })
  for await (const port of createInterface(child.stdout)) return `http://127.0.0.1:${port}`
  throw new Error('The server in Python did not start.')
}

describe('a server in Python', { skip: !PYTHON && 'there is no python3 on this machine' }, () => {
  const origin = shared(startPython)

  it('is read whole, whatever its size and layout', async () => {
    for (const [count, layout] of [[0], [1], [500], [501], [1234, '/pretty']] as const) {
      const url = `${origin()}/${count}${layout ?? ''}/events`
      let last = 0
      const collection = openCollection<{ id: number; title: string; price: number }>(url)
      for await (const { id, title, price } of collection.items()) {
        assert.deepEqual([id, title, price], [last + 1, `Ereignis ${id}: Käse & Brot`, id / 8])
        last = id
      }
      assert.equal(last, count)
    }
  })

  it('gives its items as it wrote them', async () => {
    const page = await openCollection(`${origin()}/1234/events`).page(3)
    const [line] = new TextDecoder().decode(page.ndjson()).split('\n')
    assert.equal(
      line,
      '{"id": 1001, "title": "Ereignis 1001: K\\u00e4se & Brot", "price": 125.125, "tags": ["a", null, true]}',
    )
  })

  it('keeps the contract', async () => {
    const report = await checkConformance(`${origin()}/1234/events`)
    const ids = report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id)
    assert.deepEqual(ids, [])
  })
})
