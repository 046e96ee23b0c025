/** A copy into PostgreSQL: its steps, beside those that it shares with a load. */

import { type Copy, type CopySteps, type Kept, ReamCopy } from '../copy.ts'
import type { HoleCount } from '../rank.ts'
import { REAM_SIZE } from '../ream.ts'
import type { Head } from '../store.ts'
import { explainRows, type KeyPosition, type StoredRows, type TailItem, unwrap } from '../stored-collection.ts'
import type { Connections } from './connection.ts'
import { explainError } from './explain-error.ts'
import { type Shelf, sealedReams } from './head.ts'
import { keyBytes } from './key.ts'
import { beginCopy, type LeasedPlan } from './load-plan.ts'
import { type LoadTools, PostgresLoadSteps } from './load-steps.ts'
import { inSnapshot } from './read.ts'
import type { Rows } from './rows.ts'
import { readKeys, readReams, readTail } from './stored-ream.ts'

export async function runCopy(
  connections: Connections,
  tools: LoadTools,
  origin: Head,
  isReplacement: boolean,
): Promise<Copy> {
  const explain = (error: unknown): unknown => explainError(error, tools.url)
  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw explain(error)
    })
  const plan = await explained(beginCopy(connections, origin, isReplacement))
  const kept = await explained(connections.lend((rows) => readKept(rows, plan.lease)))
  const steps = new PostgresCopySteps(connections, plan, tools, origin)
  const explainedSteps: CopySteps = {
    putReams: (reams) => explained(steps.putReams(reams)),
    putTail: (items) => explained(steps.copyTail(items)),
    putKeys: (keys) => explained(steps.copyKeys(keys)),
    read: async (use) => unwrap(await explained(steps.read((rows) => use(explainRows(rows, explain))))),
    countGone: () => explained(steps.countGone()),
    putHoles: (holes) => explained(steps.copyHoles(holes)),
    finish: () => explained(steps.finish(origin.live, 0, origin.next - origin.live)),
    abandon: () => explained(steps.abandon()),
    retire: () => explained(steps.retire()),
    renew: () => explained(steps.renew()),
    sweep: () => explained(steps.sweep()),
  }
  return new ReamCopy(origin, kept, explainedSteps)
}

/** A collection, or what is to become one, of which the positions before `next` count. */
export function storedRows(rows: Rows, shelf: Shelf, next: number): StoredRows {
  const sealed = sealedReams({ next })
  return {
    reams: () => readReams(rows, shelf, 0, sealed),
    tail: () => readTail(rows, shelf, sealed * REAM_SIZE, next),
    keys: () => readKeys(rows, shelf, next),
  }
}

async function readKept(rows: Rows, { place, shelf }: Shelf): Promise<Kept> {
  const [last] = (await rows.first('findLastReam', place, shelf)) ?? []
  const [key] = (await rows.first('findGreatestKey', place, shelf)) ?? []
  return { reams: last === undefined ? 0 : Number(last) + 1, lastKey: key === undefined ? undefined : String(key) }
}

class PostgresCopySteps extends PostgresLoadSteps {
  readonly #connections: Connections
  readonly #plan: LeasedPlan
  readonly #next: number

  constructor(connections: Connections, plan: LeasedPlan, tools: LoadTools, { next }: Head) {
    super(connections, plan, tools)
    this.#connections = connections
    this.#plan = plan
    this.#next = next
  }

  copyTail(items: readonly TailItem[]): Promise<void> {
    const { place, name, holder, shelf } = this.#plan.lease
    const columns = [items.map(({ position }) => position), items.map(({ item }) => Buffer.from(item))]
    return this.underLease(async (transaction) => {
      void transaction.write('loadTail', place, name, holder, shelf, ...columns)
    })
  }

  copyKeys(keys: readonly KeyPosition[]): Promise<void> {
    const { place, name, holder } = this.#plan.lease
    const columns = [keys.map(({ key }) => keyBytes(key)), keys.map(({ position }) => position)]
    return this.underLease(async (transaction) => {
      void transaction.write('copyKeys', place, name, holder, ...columns)
    })
  }

  copyHoles(holes: readonly HoleCount[]): Promise<void> {
    const { place, name, holder } = this.#plan.lease
    const columns = [holes.map(({ level }) => level), holes.map(({ block }) => block), holes.map(({ gone }) => gone)]
    return this.underLease(async (transaction) => {
      void transaction.write('copyHoles', place, name, holder, ...columns)
    })
  }

  async read<T>(use: (rows: StoredRows) => Promise<T>): Promise<PromiseSettledResult<T>> {
    return this.#connections.lend((rows) =>
      inSnapshot(rows, async () => {
        const [settled] = await Promise.allSettled([use(storedRows(rows, this.#plan.lease, this.#next))])
        return settled
      }),
    )
  }

  async countGone(): Promise<Map<number, number>> {
    const { place, shelf } = this.#plan.lease
    const found = await this.#connections.lend((rows) => rows.all('countGone', place, shelf, this.#next))
    return new Map(found.map(([ream, gone]) => [Number(ream), Number(gone)]))
  }

  async retire(): Promise<void> {
    const { place, name, holder } = this.#plan.lease
    await this.#connections.lend((rows) => rows.send('retireLease', place, name, holder))
  }
}
