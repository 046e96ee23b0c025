/** What clients get while the database of the service is away, and that it is well afterwards without being restarted. */

import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { openPostgresForTest, openPostgresTestStore, type PostgresUnderTest, runSql } from '../store/postgres-engine.ts'
import { type OwnPostgresServer, startOwnPostgres } from '../store/postgres-server.ts'
import { startProxy, type TcpProxy } from '../store/tcp-proxy.ts'
import { onEngine } from '../store/test-store.ts'
import { fill, numbered } from './open-service.ts'
import { type Answer, problemIn, sharedWriteServer, type WriteServer } from './write-server.ts'

const MAX_CONNECTIONS = 40

/** Every way to use the store, by a caller with a token. */
const REQUESTS = [
  ['GET', '/'],
  ['GET', '/events'],
  ['GET', '/events?page=2'],
  ['GET', '/events/1'],
  ['POST', '/events', '{"id":"new"}'],
  ['PUT', '/events/1', '{"id":1,"a":1}'],
  ['DELETE', '/events/2'],
  ['PUT', '/others', '{"key":"id"}'],
] as const

const OPEN_READS = ['/', '/events', '/events?page=2', '/events/1', '/-/health']

let server: OwnPostgresServer | undefined
const errors: unknown[] = []

before(async () => {
  server = await startOwnPostgres([`max_connections=${MAX_CONNECTIONS}`])
})
after(() => server?.stop())

const running = (): OwnPostgresServer => {
  assert.ok(server)
  return server
}
const sql = (text: string) => runSql(running().url, 'SET default_transaction_read_only = off', text)

function assertAway(answer: Answer, detail: string): void {
  assert.equal(problemIn(answer), `503 store-unavailable: ${detail}`)
  assert.equal(answer.headers['retry-after'], '1')
}

/** Everything works again, without anybody having done anything about it. */
async function assertWell({ ask }: WriteServer): Promise<void> {
  for (const path of OPEN_READS)
    assert.equal((await ask('GET', path, undefined, { Authorization: '' })).status, 200, path)
  assert.equal((await ask('PUT', '/events/1', '{"id":1}')).status, 200)
}

/** Ends all connections that are open now, but for the one that asks. */
const cutConnections = () =>
  sql(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reams' AND pid <> pg_backend_pid()",
  )

describe('a service whose database', () => {
  onEngine(() => openPostgresTestStore(running()))
  const service = sharedWriteServer(({ store }) => fill(store, 'events', numbered(600)), {
    onError: (error) => errors.push(error),
  })

  it('is down answers 503 to everything and says when to try again, and is well when it is back', async () => {
    const { ask } = service()
    await assertWell(service())
    await running().halt()
    try {
      for (let turn = 0; turn < 3; turn++) {
        for (const [method, path, body] of REQUESTS)
          assertAway(await ask(method, path, body), 'The store did not answer.')
        for (const path of OPEN_READS)
          assertAway(await ask('GET', path, undefined, { Authorization: '' }), 'The store did not answer.')
      }
      assert.equal((await ask('GET', '/-/problems/store-unavailable', undefined, { Authorization: '' })).status, 200)
    } finally {
      await running().start()
    }
    await assertWell(service())
  })

  it('restarts under writes loses none and doubles none that has a key, when each is sent until it is answered', async () => {
    const { ask, store } = service()
    await fill(store, 'restarted', [])
    const statuses = new Set<number>()
    const write = async (id: string): Promise<void> => {
      for (let status = 0; status !== 201; await sleep(status === 201 ? 0 : 50)) {
        const answer = await ask('POST', '/restarted', `{"id":"${id}"}`, { 'Idempotency-Key': id })
        status = answer.status
        statuses.add(status)
        assert.ok([201, 503].includes(status), answer.text)
      }
    }
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let turn = 0; turn < 60; turn++) await write(`${writer}-${turn}`)
    })
    for (let restart = 0; restart < 2; restart++) {
      await sleep(100)
      await running().halt()
      await running().start()
    }
    await Promise.all(writers)
    assert.ok(statuses.has(503))
    assert.equal((await store.head('restarted'))?.live, 480)
    assert.deepEqual((await store.verify()).findings, [])
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
      const client = new Client(running().url)
      client.on('error', () => {})
      await client.connect()
      others.push(client)
    }
  }
  const letGo = () => Promise.all(others.splice(0).map((client) => client.end()))

  it('has no connection left answers 503, and is well when there are some', async () => {
    const { ask } = service()
    await cutConnections()
    try {
      await assert.rejects(occupyAll, /too many clients/)
      const [read, write, health] = await Promise.all([
        ask('GET', '/events', undefined, { Authorization: '' }),
        ask('POST', '/events', '{"id":"new"}'),
        ask('GET', '/-/health'),
      ])
      for (const answer of [read, write, health]) assertAway(answer, 'The store did not answer.')
    } finally {
      await letGo()
    }
    await assertWell(service())
  })

  it('gives it no connection besides those that it has is well, and its health says so', async () => {
    const { ask } = service()
    await cutConnections()
    assert.equal((await ask('GET', '/events/1')).status, 200)
    try {
      await assert.rejects(occupyAll, /too many clients/)
      assert.equal((await ask('GET', '/events/1')).status, 200)
      assert.equal((await ask('GET', '/-/health')).status, 200)
    } finally {
      await letGo()
    }
  })
})

describe('a service behind a line to its database', () => {
  let direct: PostgresUnderTest
  let proxy: TcpProxy
  let store: Store
  let url = ''
  const closers: (() => Promise<void>)[] = []

  before(async () => {
    direct = await openPostgresForTest(running())
    await fill(direct.store, 'events', numbered(600))
    const { hostname, port } = new URL(direct.url)
    proxy = await startProxy(hostname, Number(port))
    store = await openPostgresStore({ url: direct.url.replace(`:${port}/`, `:${proxy.port}/`), statementMs: 1000 })
    const service = createService({ store, onError: (error) => errors.push(error) })
    const listening = await listen({ port: 0, ...service })
    url = `http://127.0.0.1:${listening.port}`
    closers.push(() => listening.close(0))
  })
  after(async () => {
    for (const close of closers) await close()
    await store?.close()
    await proxy?.close()
    await direct?.remove()
  })

  const authorization = async (): Promise<{ Authorization: string }> => {
    const token = `reams_${randomBytes(32).toString('base64url')}`
    const record = { scopes: ['admin'], createdAt: 0, expiresAt: null, revokedAt: null }
    await direct.store.addToken({ name: token.slice(6, 20), hash: hash('sha256', token, 'hex'), ...record })
    return { Authorization: `Bearer ${token}` }
  }
  const get = (path: string) => fetch(`${url}${path}`)

  it('that breaks at a commit says that nobody knows, or with a key what became of it', async () => {
    const headers = { ...(await authorization()), 'Content-Type': 'application/json' }
    const post = (id: string, more: Record<string, string> = {}) =>
      fetch(`${url}/events`, { method: 'POST', headers: { ...headers, ...more }, body: `{"id":"${id}"}` })
    for (const moment of ['cut before', 'cut after'] as const)
      for (const key of [undefined, `key ${moment}`.replaceAll(' ', '-')]) {
        let isCut = false
        proxy.judge = (data) => {
          if (isCut || !data.includes('COMMIT\0')) return 'pass'
          isCut = true
          return moment
        }
        const answer = await post(`${moment} ${key}`, key === undefined ? {} : { 'Idempotency-Key': key })
        assert.ok(isCut)
        const text = await answer.text()
        if (key !== undefined) assert.equal(answer.status, 201, text)
        else {
          assert.match(problemIn({ status: answer.status, text }), /^503 outcome-unknown: .* while it committed/)
          assert.match(text, /Send the request again with the same Idempotency-Key/)
          assert.equal(answer.headers.get('retry-after'), null)
        }
        // A commit that is still on its way holds the head, which this write waits for.
        await direct.store.setPrivate('events', false)
        const isThere = (await direct.store.item('events', `${moment} ${key}`))?.item !== undefined
        assert.equal(isThere, key !== undefined || moment === 'cut after')
      }
  })

  it('that is silent is told by the health before anybody else has waited to the end', async (t) => {
    t.after(() => {
      proxy.judge = () => 'pass'
    })
    assert.equal((await get('/-/health')).status, 200)
    proxy.judge = () => 'swallow'
    const order: string[] = []
    const read = get('/events').then((answer) => {
      order.push('read')
      return answer
    })
    const health = await get('/-/health')
    order.push('health')
    assert.equal(health.status, 503)
    assert.equal((await read).status, 503)
    assert.deepEqual(order, ['health', 'read'])
    proxy.judge = () => 'pass'
    proxy.cutAll()
    assert.equal((await get('/-/health')).status, 200)
    assert.equal((await get('/events')).status, 200)
  })

  it('to a database that is too slow answers 503 to reads and writes, and leaves no statement running', async () => {
    const headers = { ...(await authorization()), 'Content-Type': 'application/json' }
    const holder = new Client(running().url)
    await holder.connect()
    await holder.query(`BEGIN; LOCK TABLE ${direct.schema}.head`)
    try {
      const [read, write] = await Promise.all([
        get('/events'),
        fetch(`${url}/events`, { method: 'POST', headers, body: '{"id":"slow"}' }),
      ])
      for (const answer of [read, write]) {
        assert.equal(answer.status, 503)
        assert.equal(answer.headers.get('retry-after'), '1')
      }
      const waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
      assert.deepEqual(await sql(`SELECT count(*)::integer ${waiting}`), [[0]])
    } finally {
      await holder.end()
    }
    assert.equal((await get('/events')).status, 200)
    assert.equal((await fetch(`${url}/events`, { method: 'POST', headers, body: '{"id":"slow"}' })).status, 201)
  })
})
