/** Do collections on one worker of Citus notice that another one is dead, or hangs? Both are asked for all the time. */

import { LINUX_ROOT } from '../../test/faults/needs.ts'
import { CitusCluster } from '../../test/store/citus-cluster.ts'
import { askCitus } from '../postgres/ask.ts'
import { ManyCollections } from '../postgres/many-collections.ts'

const DURATION_MS = 10_000
const WARM_UP_MS = 3_000

export const CITUS_AWAY = askCitus({
  name: 'citus-away',
  needs: [],
  cost: { seconds: 60, secondsAMillion: 0 },
  async run({ citus }, workspace) {
    const lack = await LINUX_ROOT()
    if (lack !== undefined) return { skipped: `To end a worker, ${lack}.` }
    const cluster = await CitusCluster.find(citus.url)
    const names = Array.from({ length: 25 }, (_, index) => `collection-${index + 1}`)
    await using many = await ManyCollections.open(citus, 'away', names)
    const schema = citus.schema('away')
    const lies = await Promise.all(names.map(async (name) => ({ name, worker: await cluster.workerOf(name, schema) })))
    const [victim] = cluster.workers
    if (victim === undefined || cluster.workers.length < 2) return { skipped: 'The Citus has fewer than two workers.' }
    const healthy = lies.filter(({ worker }) => worker !== victim).map(({ name }) => name)
    const others = lies.filter(({ worker }) => worker === victim).map(({ name }) => name)
    const [warmUpMs, durationMs] = workspace.isTryOut ? [100, 300] : [WARM_UP_MS, DURATION_MS]
    /** Appends to the healthy ones a second, while the others are written to as well. */
    const rate = async (state: string) => {
      workspace.step(`citus-away: appends on both sides, the other worker ${state}`)
      const [done] = await Promise.all([many.append(healthy, durationMs), many.append(others, durationMs)])
      return done / (durationMs / 1000)
    }
    await Promise.all([many.append(healthy, warmUpMs), many.append(others, warmUpMs)])
    const before = await rate('is well')
    victim.hang()
    const hanging = await rate('hangs').finally(() => victim.goOn())
    await many.append(others, warmUpMs)
    const again = await rate('is well again')
    victim.kill()
    const dead = await rate('is dead').finally(() => victim.start())
    const raw = { before, hanging, again, dead }
    return [
      {
        measured: 'Citus: appends/s on one worker while another is dead ÷ before',
        value: dead / again,
        required: { atLeast: 0.8 },
        raw,
      },
      {
        measured: 'the same while it hangs',
        value: hanging / before,
        required: { atLeast: 0.8 },
        raw,
      },
    ]
  },
})
