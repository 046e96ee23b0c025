import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { shardKeyOf } from '../../src/store/postgres/rows/head.ts'
import { StatementTexts } from '../../src/store/postgres/rows/rows.ts'
import { CITUS, lackOf } from '../faults/needs.ts'
import { CitusCluster } from './citus-cluster.ts'
import { citusUrl, NO_CITUS } from './citus-server.ts'
import { isError, itemsFrom, keyed } from './items.ts'
import { newSchema, runSql, withParameter } from './postgres-engine.ts'
import { readAllPages } from './store-reading.ts'

describe('a store in a Citus with settings of its own', { skip: NO_CITUS }, () => {
  const schema = newSchema()
  /** Settings of a role are those of its sessions on the workers too. */
  const role = newSchema()
  const sql = (text: string) => runSql(citusUrl, '', text)
  const set = (setting: string) => sql(`ALTER ROLE ${role} SET ${setting}`)

  const url = (): string => {
    const own = new URL(citusUrl)
    own.username = role
    return withParameter(own.href, 'schema', schema)
  }

  before(() => sql(`CREATE ROLE ${role} LOGIN SUPERUSER`))
  after(async () => {
    await sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await sql(`DROP ROLE ${role}`)
  })

  it('works where plans are to be made for all values at once', async () => {
    await set('plan_cache_mode = force_generic_plan')
    const store = await openPostgresStore({ url: url(), create: true })
    try {
      await store.create('events', { keyField: 'id' })
      const load = await store.load('events')
      await load.append(keyed(itemsFrom(0, 1_100)))
      await load.commit()
      await store.append('events', keyed(itemsFrom(2_000, 3)))
      await store.put('events', keyed(['{"id":5,"new":true}']))
      await store.delete('events', ['7', '900'])
      const left = [...itemsFrom(0, 1_100), ...itemsFrom(2_000, 3)]
        .filter((text) => text !== '{"id":7}' && text !== '{"id":900}')
        .map((text) => (text === '{"id":5}' ? '{"id":5,"new":true}' : text))
      assert.deepEqual((await readAllPages(store, 'events')).flat(), left)
      assert.equal(String((await store.item('events', '5'))?.item?.text), '{"id":5,"new":true}')
      assert.deepEqual((await store.verify()).findings, [])
    } finally {
      await store.close()
    }
  })

  for (const [setting, expected] of [
    ['off', 'on'],
    ['local', 'local'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])
    it(`commits with ${expected} on the worker where synchronous_commit is ${setting}`, async () => {
      await set(`synchronous_commit = ${setting}`)
      const client = new Client(url())
      await client.connect()
      try {
        const shardKey = shardKeyOf('events')
        await client.query('BEGIN')
        const asked = `SELECT current_setting('synchronous_commit') FROM ${schema}.head WHERE shard_key = ${shardKey}`
        assert.deepEqual((await client.query({ text: asked, rowMode: 'array' })).rows, [[setting]])
        const { rows } = await client.query(new StatementTexts(schema, true).of('lockHead').text, [shardKey, 'events'])
        assert.equal(rows.length, 1)
        assert.deepEqual((await client.query({ text: asked, rowMode: 'array' })).rows, [[expected]])
        await client.query('ROLLBACK')
      } finally {
        await client.end()
      }
    })
})

const lack = await lackOf([CITUS])

describe('a worker of Citus', { skip: lack ?? false }, () => {
  let cluster: CitusCluster

  before(async () => {
    cluster = await CitusCluster.find(citusUrl)
  })
  after(() => cluster?.[Symbol.asyncDispose]())

  it('refuses to make a store, and says where one is made', async () => {
    const [worker] = cluster.workers
    const url = cluster.storeIn(cluster.newSchema(), worker?.port)
    await assert.rejects(
      openPostgresStore({ url, create: true }),
      (error: Error) =>
        isError('unsupported')(error) && /is a worker of Citus\. Use the coordinator to create/.test(error.message),
    )
  })

  it('takes everything else, for collections that lie on any of them', async () => {
    const schema = cluster.newSchema()
    await (await openPostgresStore({ url: cluster.storeIn(schema), create: true })).close()
    for (const { port } of cluster.workers) {
      const store = await openPostgresStore({ url: cluster.storeIn(schema, port) })
      try {
        for (const name of ['a', 'b', 'c', 'd'].map((letter) => `${letter}-${port}`)) {
          await store.create(name, { keyField: 'id' })
          await store.append(name, keyed(itemsFrom(0, 1_010)))
          await store.delete(name, ['3'])
          assert.deepEqual(
            (await readAllPages(store, name)).flat(),
            itemsFrom(0, 1_010).filter((text) => text !== '{"id":3}'),
          )
        }
        const times = { createdAt: 1, expiresAt: null, revokedAt: null }
        await store.addToken({ name: `token-${port}`, hash: `hash-${port}`, scopes: ['admin'], ...times })
        assert.equal((await store.token(`hash-${port}`))?.name, `token-${port}`)
        assert.deepEqual((await store.verify()).findings, [])
      } finally {
        await store.close()
      }
    }
  })
})
