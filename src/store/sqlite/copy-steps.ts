/** The steps of a copy that run in the writer thread, beside those that it shares with a load. */

import { randomUUID } from 'node:crypto'
import { checkName, checkSettings, existingCollection, newId } from '../collection-rules.ts'
import { holderPrefix, type Kept } from '../copy.ts'
import type { HoleCount } from '../rank.ts'
import type { Head } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { KeyPosition, TailItem } from '../stored-collection.ts'
import { readHead } from './head.ts'
import { putHole } from './hole.ts'
import { claimKey } from './key.ts'
import type { LeasedPlan } from './load-steps.ts'
import { putTailItem } from './put-items.ts'
import type { Rows } from './rows.ts'
import { beginStep, checkNothingInTheWay, type Lease, takeDeadLease, takeLease } from './sweep.ts'

const LAST_REAM = 'SELECT max(number) FROM ream WHERE collection_id = ? AND generation = ?'
const LAST_KEY = 'SELECT max(key) FROM key WHERE collection_id = ? AND generation = ?'

export interface CopyPlan extends LeasedPlan {
  readonly kept: Kept
}

export function beginCopy(rows: Rows, origin: Head, isReplacement: boolean): CopyPlan {
  const { name, keyField, isPaginated, isPrivate } = origin
  const settings = { keyField, isPaginated, isPrivate }
  checkName(name)
  const head = readHead(rows, name)
  const left = takeDeadLease(rows, name, holderPrefix(origin), head)
  if (left === undefined) checkNothingInTheWay(rows, name, head)
  if (head !== undefined && !isReplacement) throw existingCollection(name)
  if (head !== undefined) checkSettings(head, settings)
  const lease: Lease = {
    name,
    id: left?.id ?? head?.id ?? newId(),
    generation: left?.generation ?? (head?.generation ?? 0) + 1,
    base: 0,
    holder: holderPrefix(origin) + randomUUID(),
  }
  takeLease(rows, lease)
  const plan = { name, settings, lease, base: 0, live: 0, isNew: head === undefined, isReplacement }
  return { ...plan, onConflict: 'fail', kept: readKept(rows, lease) }
}

function readKept(rows: Rows, { id, generation }: Lease): Kept {
  const last = rows.get(LAST_REAM, id, generation)?.[0] as number | null
  const key = rows.get(LAST_KEY, id, generation)?.[0] as string | null
  return { reams: last === null ? 0 : last + 1, lastKey: key ?? undefined }
}

export function copyTail(rows: Rows, { lease }: LeasedPlan, items: readonly TailItem[]): void {
  beginStep(rows, lease)
  for (const { position, item } of items) putTailItem(rows, lease, position, item)
}

export function copyKeys(rows: Rows, { lease }: LeasedPlan, keys: readonly KeyPosition[]): void {
  beginStep(rows, lease)
  for (const { key, position } of keys)
    if (claimKey(rows, lease, key, position) !== position)
      throw new StoreError('corrupt', `The key ${JSON.stringify(key)} of "${lease.name}" was sent twice.`)
}

export function copyHoles(rows: Rows, { lease }: LeasedPlan, holes: readonly HoleCount[]): void {
  beginStep(rows, lease)
  for (const hole of holes) putHole(rows, lease, hole)
}
