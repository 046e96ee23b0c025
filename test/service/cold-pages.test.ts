import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { type Listening, listen } from '../../src/service/node/listen.ts'
import { openTestStore, type TestStore } from '../store/test-store.ts'

const ITEMS = Array.from({ length: 20_000 }, (_, id) => JSON.stringify({ id, text: `item ${id} `.repeat(8) }))
const PAGES = 40
/** More than the system takes from us at once. */
const WHOLE = Array.from({ length: 6_000 }, (_, id) => JSON.stringify({ id, text: `${id} `.repeat(250) }))

describe('pages that nobody keeps, for many at once', () => {
  let opened: TestStore
  let server: Listening
  const url = (page: number) => `http://127.0.0.1:${server.port}/events?page=${page}`

  before(async () => {
    opened = await openTestStore()
    await opened.store.create('events', { keyField: 'id' })
    for (let start = 0; start < ITEMS.length; start += 5_000)
      await opened.store.append('events', itemRun(ITEMS.slice(start, start + 5_000), { keyField: 'id' }))
    await opened.store.create('whole', { isPaginated: false })
    await opened.store.append('whole', itemRun(WHOLE))
    server = await listen({ port: 0, ...createService({ store: opened.store, cacheBytes: 0 }) })
  })
  after(async () => {
    await server.close()
    await opened.remove()
  })

  it('are whole, in both forms, again and again', async () => {
    for (let round = 0; round < 6; round++) {
      const requests = Array.from({ length: 60 }, async (_, index) => {
        const page = 1 + ((index * 7 + round) % PAGES)
        const encoding = index % 2 === 0 ? 'gzip' : 'identity'
        const response = await fetch(url(page), { headers: { 'Accept-Encoding': encoding } })
        assert.equal(response.headers.get('content-encoding') ?? 'identity', encoding)
        const { item_count, _embedded } = await response.json()
        assert.equal(item_count, ITEMS.length)
        assert.deepEqual(
          _embedded.events,
          ITEMS.slice((page - 1) * 500, page * 500).map((text) => JSON.parse(text)),
        )
      })
      await Promise.all(requests)
    }
  })

  it('reach a client that takes its time, beside others, and one that leaves takes nothing along', async () => {
    const slow = Array.from({ length: 4 }, () => slowBody(server.port))
    const leaving = Array.from({ length: 12 }, (_, index) => leave(server.port, index))
    const others = Array.from({ length: 200 }, (_, index) =>
      fetch(url(1 + (index % PAGES))).then((each) => each.text()),
    )
    await Promise.all([...others, ...leaving])
    const expected = WHOLE.map((text) => JSON.parse(text))
    for (const body of await Promise.all(slow)) assert.deepEqual(JSON.parse(body)._embedded.whole, expected)
  })
})

function askForAll(port: number): ReturnType<typeof connect> {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /whole HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  return socket
}

/** The body of an answer that is read a little at a time. */
async function slowBody(port: number): Promise<string> {
  const socket = askForAll(port)
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece)
    socket.pause()
    setTimeout(() => socket.resume(), 5)
  })
  await once(socket, 'end')
  const answer = Buffer.concat(pieces)
  return answer.subarray(answer.indexOf('\r\n\r\n') + 4).toString()
}

async function leave(port: number, ms: number): Promise<void> {
  const socket = askForAll(port)
  await sleep(ms)
  socket.destroy()
}
