/** What clients get while the database of the service is away, and that it is well afterwards without being restarted. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { createService, type Service } from '../../src/service/create-service.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { keyed } from '../store/items.ts'
import { openPostgresForTest, openPostgresTestStore, type PostgresUnderTest, runSql } from '../store/postgres-engine.ts'
import { type OwnPostgresServer, startOwnPostgres } from '../store/postgres-server.ts'
import { startProxy, type TcpProxy } from '../store/tcp-proxy.ts'
import { onEngine } from '../store/test-store.ts'
import { BASE, fill, numbered } from './open-service.ts'
import { isWhole } from './whole.ts'
import { type Answer, NOBODY, problemIn, sharedWriteServer, type WriteServer } from './write-server.ts'

/** Every way to use the store, by a caller with a token. */
const REQUESTS = [
  ...['/', '/events', '/events?page=2', '/events/1'].map((path) => ['GET', path] as const),
  ['POST', '/events', '{"id":"new"}'],
  ['PUT', '/events/1', '{"id":1,"a":1}'],
  ['DELETE', '/events/2'],
  ['PUT', '/others', '{"key":"id"}'],
] as const

const OPEN_READS = ['/', '/events', '/events?page=2', '/events/1', '/-/health']

let server: OwnPostgresServer
before(async () => {
  server = await startOwnPostgres(['max_connections=40'])
})
after(() => server?.stop())

const sql = (text: string) => runSql(server.url, 'SET default_transaction_read_only = off', text)

function assertAway(answer: Answer, detail: string): void {
  assert.equal(problemIn(answer), `503 store-unavailable: ${detail}`)
  assert.equal(answer.headers['retry-after'], '1')
}

/** Everything works again, without anybody having done anything about it. */
async function assertWell({ ask }: WriteServer): Promise<void> {
  for (const path of OPEN_READS) assert.equal((await ask('GET', path, undefined, NOBODY)).status, 200, path)
  assert.equal((await ask('PUT', '/events/1', '{"id":1}')).status, 200)
}

/** Ends all connections that are open now, but for the one that asks. */
const cutConnections = () => {
  const others = "application_name = 'reams' AND pid <> pg_backend_pid()"
  return sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`)
}

describe('a service whose database', () => {
  onEngine(() => openPostgresTestStore(server))
  const service = sharedWriteServer(({ store }) => fill(store, 'events', numbered(600)), { onError: () => {} })

  it('is down answers 503 to everything and says when to try again, and is well when it is back', async () => {
    const { ask } = service()
    await assertWell(service())
    await server.halt()
    try {
      for (const [method, path, body] of REQUESTS)
        assertAway(await ask(method, path, body), 'The store did not answer.')
      for (const path of OPEN_READS) assertAway(await ask('GET', path, undefined, NOBODY), 'The store did not answer.')
      assert.equal((await ask('GET', '/-/problems/store-unavailable', undefined, NOBODY)).status, 200)
    } finally {
      await server.start()
    }
    await assertWell(service())
  })

  it('takes no writes answers 503 to them, and reads go on', async () => {
    const { ask } = service()
    await sql('ALTER DATABASE postgres SET default_transaction_read_only = on')
    try {
      await cutConnections()
      for (const [method, path, body] of REQUESTS) {
        const answer = await ask(method, path, body)
        if (method === 'GET') assert.equal(answer.status, 200, answer.text)
        else assertAway(answer, 'The store is read-only now.')
      }
      assert.equal((await ask('GET', '/-/health')).status, 200)
    } finally {
      await sql('ALTER DATABASE postgres RESET default_transaction_read_only')
    }
    await cutConnections()
    await assertWell(service())
  })

  const others: Client[] = []
  const occupyAll = async (): Promise<void> => {
    for (;;) {
      const client = new Client(server.url)
      client.on('error', () => {})
      await client.connect()
      others.push(client)
    }
  }

  it('gives it no connection besides those that it has is well, and with none at all answers 503 until there are some', async () => {
    const { ask } = service()
    const readOne = async () => (await ask('GET', '/events/1', undefined, NOBODY)).status
    const health = () => ask('GET', '/-/health', undefined, NOBODY)
    await cutConnections()
    assert.equal(await readOne(), 200)
    try {
      await assert.rejects(occupyAll, /too many clients/)
      assert.deepEqual([await readOne(), (await health()).status], [200, 200])
      await others.pop()?.end()
      await cutConnections()
      await assert.rejects(occupyAll, /too many clients/)
      for (const answer of await Promise.all([ask('POST', '/events', '{"id":"new"}'), health()]))
        assertAway(answer, 'The store did not answer.')
    } finally {
      await Promise.all(others.splice(0).map((client) => client.end()))
    }
    await assertWell(service())
  })
})

describe('a service behind a line to its database', () => {
  const resources = new AsyncDisposableStack()
  let direct: PostgresUnderTest
  let proxy: TcpProxy
  let store: Store
  let service: Service

  before(async () => {
    direct = resources.adopt(await openPostgresForTest(server), ({ remove }) => remove())
    await fill(direct.store, 'events', numbered(600))
    const { hostname, port } = new URL(direct.url)
    proxy = resources.adopt(await startProxy(hostname, Number(port)), (each) => each.close())
    const url = direct.url.replace(`:${port}/`, `:${proxy.port}/`)
    store = resources.adopt(await openPostgresStore({ url, statementMs: 1000 }), (each) => each.close())
    service = createService({ store, onError: () => {} })
  })
  after(() => resources.disposeAsync())

  const get = async (path: string) => service.fetch(new Request(BASE + path))

  it('that is silent is told by the health while everybody else still waits, who is answered in the end', async (t) => {
    t.after(() => {
      proxy.judge = () => 'pass'
    })
    assert.equal((await get('/-/health')).status, 200)
    proxy.judge = () => 'swallow'
    let isAnswered = false
    const reading = get('/events').finally(() => {
      isAnswered = true
    })
    assert.deepEqual([(await get('/-/health')).status, isAnswered], [503, false])
    if (isWhole()) assert.equal((await reading).status, 503)
    proxy.judge = () => 'pass'
    proxy.cutAll()
    assert.ok([200, 503].includes((await reading).status))
    for (const path of ['/-/health', '/events']) assert.equal((await get(path)).status, 200)
  })

  it('to a database that is too slow answers 503, and leaves no statement running', async () => {
    const holder = new Client(server.url)
    await holder.connect()
    await holder.query(`BEGIN; LOCK TABLE ${direct.schema}.head`)
    const append = () => store.append('events', keyed(['{"id":"slow"}']))
    try {
      const [read] = await Promise.all([get('/events'), assert.rejects(append, { code: 'unavailable' })])
      assert.deepEqual([read.status, read.headers.get('retry-after')], [503, '1'])
      const waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
      assert.deepEqual(await sql(`SELECT count(*)::integer ${waiting}`), [[0]])
    } finally {
      await holder.end()
    }
    assert.equal((await get('/events')).status, 200)
    await append()
  })
})
