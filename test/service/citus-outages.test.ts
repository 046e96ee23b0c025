/** What clients and commands get while a worker of Citus is away: what lies there is not to be had, and all else is. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { runCli, startServer, workDirectory } from '../cli/run-cli.ts'
import { CITUS, lackOf } from '../faults/needs.ts'
import { CitusCluster, type CitusNode } from '../store/citus-cluster.ts'
import { citusUrl } from '../store/citus-server.ts'
import { keyed } from '../store/items.ts'
import { fill, numbered } from './open-service.ts'

const lack = await lackOf([CITUS])

describe('a service on Citus, one worker of which', { skip: lack ?? false }, () => {
  let cluster: CitusCluster
  let location: string
  let store: Store
  let url: string
  let close: () => Promise<unknown>
  /** Two collections on two workers, and the worker of the second. */
  const here = 'here'
  let there: string
  /** One beside the first, whose key is no text for PostgreSQL. */
  let odd: string
  let worker: CitusNode

  before(async () => {
    cluster = await CitusCluster.find(citusUrl)
    location = cluster.storeIn(cluster.newSchema())
    store = await openPostgresStore({ url: location, create: true })
    const at = await cluster.workerOf(here)
    const elsewhere = cluster.workers.find((each) => each !== at)
    there = await nameAt(cluster, elsewhere ?? assert.fail(), 'there')
    for (const name of [here, there]) await fill(store, name, numbered(1_200))
    odd = await nameAt(cluster, at, 'odd')
    await store.create(odd, { keyField: 'a\u0000b' })
    await store.delete(here, ['7'])
    worker = await cluster.workerOf(there)
    const { port, close: stop } = await listen({ port: 0, ...createService({ store, onError: () => {} }) })
    url = `http://127.0.0.1:${port}`
    close = () => stop(0)
  })
  after(async () => {
    await close?.()
    await store?.close()
    await cluster?.[Symbol.asyncDispose]()
  })

  const get = (path: string) => fetch(`${url}${path}`)

  for (const [state, strike, mend] of [
    ['was killed', () => worker.kill(), () => worker.start()],
    ['hangs', () => worker.hang(), async () => worker.goOn()],
  ] as const)
    it(`${state} answers for what lies on the others, and says what is missing`, { timeout: 120_000 }, async (t) => {
      strike()
      let isMended = false
      const mendOnce = async () => {
        if (!isMended) await mend()
        isMended = true
      }
      t.after(mendOnce)
      for (const rest of ['', '?page=2', '?page=99', '/8'])
        assert.equal((await get(`/${here}${rest}`)).status, 200, rest)
      const away = await get(`/${there}`)
      assert.deepEqual([away.status, away.headers.get('retry-after')], [503, '1'])
      const { live } = await store.append(here, keyed([`{"id":"${state}"}`]))
      assert.equal((await store.head(here))?.live, live)

      const entry = (await (await get('/')).json()) as { incomplete?: boolean; _embedded: { collections: Named[] } }
      assert.equal(entry.incomplete, true)
      assert.deepEqual(
        entry._embedded.collections.map(({ name }) => name),
        [here, odd].sort(),
      )
      const health = await get('/-/health')
      assert.deepEqual([health.status, await health.json()], [200, { status: 'degraded' }])

      const options = { in: workDirectory(t), variables: { REAMS_STORE: location } }
      const listed = await runCli(['collections'], options)
      assert.equal(listed.status, 3)
      assert.match(listed.stdout, new RegExp(`^${here} `, 'm'))
      assert.match(
        listed.stderr,
        new RegExp(`:${worker.port} cannot be reached, so the collections there are not listed`),
      )
      const imported = await runCli(['import', here, '-'], { ...options, input: `{"id":"imported, ${state}"}` })
      assert.equal(imported.status, 0, imported.stderr)
      const missing = await nameAt(cluster, await cluster.workerOf(here), 'missing')
      assert.equal((await runCli(['export', missing], options)).status, 2)
      const token = await runCli(['token', 'create', '--name', 'late', '--scope', 'admin'], options)
      assert.equal(token.status, 3)
      assert.equal(token.stdout, '')
      assert.match(token.stderr, /^reams: /)
      const second = await startServer(t, [], options)
      assert.match(second.cli.stdout, new RegExp(`Away: .*:${worker.port}`))
      assert.equal((await second.get(`/${here}`)).status, 200)
      await second.cli.stop()

      await mendOnce()
      for (let tries = 0; (await get(`/${there}`)).status !== 200; tries++) assert.ok(tries < 200)
      assert.equal(((await (await get('/')).json()) as { incomplete?: boolean }).incomplete, undefined)
      assert.deepEqual(await (await get('/-/health')).json(), { status: 'ok' })
    })
})

interface Named {
  readonly name: string
}

async function nameAt(cluster: CitusCluster, worker: CitusNode, word: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${word}-${number}`
    if ((await cluster.workerOf(name)) === worker) return name
  }
}
