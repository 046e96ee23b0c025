import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { it, type TestContext } from 'node:test'
import { stateOf } from '../../src/contract/state-tag.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { changed, itemsFrom, keyed, keysFrom } from './items.ts'
import { withParameter } from './postgres-engine.ts'
import { startOwnPostgres } from './postgres-server.ts'

/** A client that sends nothing for so long waits for an answer. A busy server may pause between two of them, but not for so long. */
const SILENT_MS = 200

/** A proxy that keeps the answers back until the client waits for them, and counts how often it does. */
async function startCounter(t: TestContext, host: string, port: number) {
  const counter = { port: 0, roundTrips: 0 }
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ host, port, noDelay: true })
    let answers: Buffer[] = []
    const timer = setTimeout(() => {
      if (answers.length === 0) return
      counter.roundTrips++
      client.write(Buffer.concat(answers))
      answers = []
    }, SILENT_MS)
    target.on('data', (data) => {
      answers.push(data)
      timer.refresh()
    })
    client.on('data', (data) => {
      target.write(data)
      timer.refresh()
    })
    for (const socket of [client, target]) socket.on('error', () => {})
    client.on('close', () => target.destroy())
    target.on('close', () => client.destroy())
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  counter.port = (server.address() as AddressInfo).port
  return counter
}

/** What each kind of request may take at most, once connections are open and statements prepared. Usual are 7 for an earlier state, 46 for an import. */
const MOST = {
  'a live page': 1,
  'a page of a collection with holes': 1,
  'a page of an earlier state': 9,
  'an item': 1,
  'an append': 3,
  'a replace': 4,
  'a PATCH of 1,000': 4,
  'an import of 100 reams': 60,
}

it('requests take no more round trips to PostgreSQL than they need', async (t) => {
  const postgres = await startOwnPostgres()
  t.after(() => postgres.stop())
  const { hostname, port } = new URL(postgres.url)
  const counter = await startCounter(t, hostname, Number(port))
  const url = withParameter(postgres.url.replace(`:${port}/`, `:${counter.port}/`), 'schema', 'reams')
  const connections = { readConnections: 1, writeConnections: 1, forgetEveryMs: 3_600_000 }
  const store = await openPostgresStore({ url, create: true, ...connections })
  t.after(() => store.close())
  await store.create('plain', { keyField: 'id' })
  const head = await store.append('plain', keyed(itemsFrom(0, 3_000)))
  await store.put('plain', keyed([changed(8, 1)]))
  await store.create('holes', { keyField: 'id' })
  await store.append('holes', keyed(itemsFrom(0, 300_000)))
  await store.delete('holes', keysFrom(700, 3))
  const patch = keysFrom(0, 1_000).map((id) => changed(Number(id), 1))
  let turn = 0
  const requests: Record<keyof typeof MOST, () => Promise<unknown>> = {
    'a live page': () => store.page('plain', 2),
    'a page of a collection with holes': () => store.page('holes', 5),
    'a page of an earlier state': () => store.pageAt('plain', stateOf(head), 2),
    'an item': () => store.item('plain', '7'),
    'an append': () => store.append('plain', keyed(itemsFrom(10_000 + turn++, 1))),
    'a replace': () => store.put('plain', keyed([changed(7, turn++)])),
    'a PATCH of 1,000': () => store.patch('plain', { puts: keyed(patch), steps: patch.map(() => null) }),
    'an import of 100 reams': () => importReams(store, `import-${turn++}`),
  }
  const counts: Record<string, number> = {}
  for (const [name, request] of Object.entries(requests)) {
    await request()
    counter.roundTrips = 0
    await request()
    counts[name] = counter.roundTrips
  }
  const more = Object.entries(MOST).filter(([name, most]) => (counts[name] ?? 0) > most)
  console.log(JSON.stringify(counts))
  assert.deepEqual(more, [], JSON.stringify(counts))
})

async function importReams(store: Store, name: string): Promise<void> {
  const load = await store.load(name, { settings: { keyField: 'id' } })
  const runs = Array.from({ length: 10 }, (_, run) => load.append(keyed(itemsFrom(run * 5_000, 5_000))))
  await Promise.all(runs)
  await load.commit()
}
