/** What does a page cost on Citus, next to PostgreSQL on the same machine: the first, the last, and one with holes before it? */

import { lastPage } from '../../src/contract/page.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { compareLatencies, pageOf } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import { askCitus } from '../postgres/ask.ts'
import { randomPaths } from '../random-paths.ts'
import { COLLECTION } from '../workspace.ts'

export const CITUS_PAGES = askCitus({
  name: 'citus-pages',
  needs: ['ndjson', 'postgresItems', 'postgresHoles'],
  cost: { seconds: 45, secondsAMillion: 60 },
  async run({ citus, plain }, workspace) {
    const { items, signal } = workspace
    const requests = Math.ceil(workspace.requests / 2)
    const citusHoles = await citus.itemsWithHoles()
    const plainHoles = await plain.itemsWithHoles()
    const [onCitus, onPlain] = [await citus.itemsServer(), await plain.itemsServer()]
    await using holesOnCitus = await citus.serve(citusHoles.path, WITHOUT_CACHE)
    await using holesOnPlain = await plain.serve(plainHoles.path, WITHOUT_CACHE)
    await using hotOnCitus = await citus.serve((await citus.items()).path)
    await using hotOnPlain = await plain.serve((await plain.items()).path)
    using citusHot = new PageClient(hotOnCitus.url)
    using plainHot = new PageClient(hotOnPlain.url)
    using citusClient = new PageClient(onCitus.url)
    using plainClient = new PageClient(onPlain.url)
    using citusHoley = new PageClient(holesOnCitus.url)
    using plainHoley = new PageClient(holesOnPlain.url)
    const paths = randomPaths(requests, lastPage(items - citusHoles.deletes))
    const random = (client: PageClient) => ({ client, encoding: 'gzip', paths }) as const
    workspace.step('citus-pages: first, last and random pages of both in turn')
    const times = await compareLatencies(
      {
        first: pageOf(citusClient, COLLECTION, 1),
        last: pageOf(citusClient, COLLECTION, workspace.lastPage),
        random: random(citusClient),
        holes: random(citusHoley),
        hot: pageOf(citusHot, COLLECTION, 1),
        plainHot: pageOf(plainHot, COLLECTION, 1),
        plainFirst: pageOf(plainClient, COLLECTION, 1),
        plainRandom: random(plainClient),
        plainHoles: random(plainHoley),
      },
      { requests, signal },
    )
    return [
      {
        measured: 'Citus: random page ÷ on PostgreSQL, gzip, uncached, p50',
        value: times.random.p50Ms / times.plainRandom.p50Ms,
        required: { atMost: 1.7 },
        raw: { citus: times.random, plain: times.plainRandom },
      },
      {
        measured: 'the same, first page',
        value: times.first.p50Ms / times.plainFirst.p50Ms,
        required: { atMost: 1.7 },
        raw: { citus: times.first, plain: times.plainFirst },
      },
      {
        measured: 'the same, a page that is still in memory: its head is read all the same',
        value: times.hot.p50Ms / times.plainHot.p50Ms,
        required: { atMost: 1.7 },
        raw: { citus: times.hot, plain: times.plainHot },
      },
      {
        measured: 'Citus: last page ÷ first page',
        value: times.last.p50Ms / times.first.p50Ms,
        required: { atMost: 1.15 },
        raw: { last: times.last, first: times.first },
      },
      {
        measured: 'Citus: random page with 1 % of items deleted ÷ without',
        value: times.holes.p50Ms / times.random.p50Ms,
        required: { atMost: 3 },
        raw: { withHoles: times.holes, without: times.random, deletes: citusHoles.deletes },
      },
      {
        measured: 'the same on PostgreSQL',
        value: times.plainHoles.p50Ms / times.plainRandom.p50Ms,
        better: 'lower',
        raw: { withHoles: times.plainHoles, without: times.plainRandom },
      },
    ]
  },
})
