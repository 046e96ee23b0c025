/** A copy into an SQLite file: what writes runs in the writer thread, what reads on a connection of its own. */

import { type Copy, type CopySteps, ReamCopy } from '../copy.ts'
import { REAM_SIZE } from '../ream.ts'
import type { Head } from '../store.ts'
import { explainRows, type StoredRows, unwrap } from '../stored-collection.ts'
import { openReadConnection } from './connection.ts'
import type { CopyPlan } from './copy-steps.ts'
import { explainError } from './explain-error.ts'
import { readKeys } from './key.ts'
import { StepCount } from './load.ts'
import { Rows } from './rows.ts'
import { readReams, readTailItems, type Shelf } from './stored-ream.ts'
import type { Writer } from './writer.ts'

const REAMS_WITH_HOLES = `
  SELECT number, ${REAM_SIZE} - count FROM ream WHERE collection_id = ? AND generation = ? AND count < ${REAM_SIZE}`
const TAIL_COUNT = 'SELECT count(*) FROM tail WHERE collection_id = ? AND generation = ?'

export function runCopy(path: string, writer: Writer, origin: Head, plan: CopyPlan): Copy {
  const { lease } = plan
  const count = new StepCount()
  const steps: CopySteps = {
    putReams: (reams) => count.add(writer.call('putReams', plan, reams)),
    putTail: (items) => count.add(writer.call('copyTail', plan, items)),
    putKeys: (keys) => count.add(writer.call('copyKeys', plan, keys)),
    async read(use) {
      return unwrap(
        await inOwnSnapshot(path, async (rows) => {
          const [settled] = await Promise.allSettled([use(storedRows(path, rows, lease, origin.next))])
          return settled
        }),
      )
    },
    countGone: () => inOwnSnapshot(path, async (rows) => countGone(rows, lease, origin.next)),
    putHoles: (holes) => count.add(writer.call('copyHoles', plan, holes)),
    finish: () => {
      const gone = origin.next - origin.live
      return writer.call('finishLoad', plan, { appended: origin.live, replaced: 0, gone, steps: count.value })
    },
    abandon: () => writer.call('abandonLoad', plan),
    retire: () => writer.call('retireLoad', plan),
    renew: () => writer.call('renewLoad', plan),
    sweep: () => writer.sweep(),
  }
  return new ReamCopy(origin, plan.kept, steps)
}

/** A collection, or what is to become one, of which the positions before `next` count. */
export function storedRows(path: string, rows: Rows, shelf: Shelf, next: number): StoredRows {
  const sealed = Math.floor(next / REAM_SIZE)
  const stored: StoredRows = {
    async *reams() {
      yield* readReams(rows, shelf, sealed)
    },
    async *tail() {
      yield* readTailItems(rows, shelf, sealed * REAM_SIZE, next)
    },
    async *keys() {
      yield* readKeys(rows, shelf, next)
    },
  }
  return explainRows(stored, (error) => explainError(error, path))
}

/** On a connection of its own: the snapshot lasts as long as the caller takes. */
export async function inOwnSnapshot<T>(path: string, use: (rows: Rows) => Promise<T>): Promise<T> {
  try {
    const database = openReadConnection(path)
    try {
      database.exec('BEGIN')
      return await use(new Rows(database))
    } finally {
      database.close()
    }
  } catch (error) {
    throw explainError(error, path)
  }
}

function countGone(rows: Rows, { id, generation }: Shelf, next: number): Map<number, number> {
  const gone = new Map(rows.all(REAMS_WITH_HOLES, id, generation) as unknown as [number, number][])
  const inTail = rows.get(TAIL_COUNT, id, generation)?.[0] as number
  const missing = (next % REAM_SIZE) - inTail
  if (missing > 0) gone.set(Math.floor(next / REAM_SIZE), missing)
  return gone
}
