import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { CITUS, lackOf } from '../faults/needs.ts'
import { CitusCluster } from './citus-cluster.ts'
import { citusUrl } from './citus-server.ts'
import { isError, itemsFrom, keyed } from './items.ts'
import { readAllPages } from './store-reading.ts'

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
