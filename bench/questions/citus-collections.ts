/** What grows with the number of workers of Citus? The work on many collections, by processor time of each part. */

import { CitusCluster } from '../../test/store/citus-cluster.ts'
import { cpuMs } from '../cpu-time.ts'
import { askCitus } from '../postgres/ask.ts'
import { ManyCollections } from '../postgres/many-collections.ts'
import type { Figure } from '../question.ts'

const COLLECTIONS = 25
const DURATION_MS = 8_000
const WARM_UP_MS = 3_000

export const CITUS_COLLECTIONS = askCitus({
  name: 'citus-collections',
  needs: [],
  cost: { seconds: 80, secondsAMillion: 0 },
  async run({ citus, plain }, workspace) {
    const names = Array.from({ length: COLLECTIONS }, (_, index) => `collection-${index + 1}`)
    const cluster = await CitusCluster.find(citus.url)
    await using onCitus = await ManyCollections.open(citus, 'many', names)
    await using onPlain = await ManyCollections.open(plain, 'many', names)
    const [warmUpMs, durationMs] = workspace.isTryOut ? [100, 300] : [WARM_UP_MS, DURATION_MS]
    const parts = {
      reams: () => [onCitus.server.pid],
      coordinator: () => cluster.coordinator.processes(),
      workers: () => cluster.workers.flatMap((worker) => worker.processes()),
    }
    const figures: Figure[] = []
    for (const kind of ['read', 'append'] as const) {
      workspace.step(`citus-collections: ${kind} in one and in ${COLLECTIONS} collections`)
      await onCitus[kind](names, warmUpMs)
      await onPlain[kind](names, warmUpMs)
      const before = Object.entries(parts).map(([part, pids]) => ({ part, pids, ms: cpuMs(pids()) }))
      const many = await onCitus[kind](names, durationMs)
      const cpuMsEach = Object.fromEntries(before.map(({ part, pids, ms }) => [part, (cpuMs(pids()) - ms) / many]))
      const one = await onCitus[kind](names.slice(0, 1), durationMs)
      const manyOnPlain = await onPlain[kind](names, durationMs)
      const what = kind === 'read' ? 'pages' : 'appends'
      const perSecond = (count: number) => Math.round(count / (durationMs / 1000))
      const cost = Object.entries(cpuMsEach).map(([part, ms]) => `${part} ${ms.toFixed(2)} ms`)
      figures.push(
        {
          measured: `Citus: ${what}/s in ${COLLECTIONS} collections ÷ on PostgreSQL, all on this machine`,
          value: many / manyOnPlain,
          better: 'higher',
          raw: { citus: perSecond(many), plain: perSecond(manyOnPlain), workers: cluster.workers.length, cpuMsEach },
          note: `Citus: processor time for one of the ${what}: ${cost.join(', ')}.`,
        },
        {
          measured: `Citus: ${what}/s in ${COLLECTIONS} collections ÷ in one`,
          value: many / one,
          better: 'higher',
          raw: { many: perSecond(many), one: perSecond(one) },
        },
      )
    }
    return figures
  },
})
