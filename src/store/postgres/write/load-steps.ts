/** The steps of a load. What they write stays unseen until `finish` moves the head. */

import { NO_COLLECTION } from '../../collection-rules.ts'
import { headAfterLoad, type LoadCounts, type LoadSteps } from '../../load.ts'
import { REAM_SIZE } from '../../positions.ts'
import { byReam, type SealedReam, splitItems } from '../../ream.ts'
import { ReamDraft, sealItems } from '../../ream-draft.ts'
import type { Head } from '../../store.ts'
import { lockHead, shownHead, writeHead } from '../rows/head.ts'
import { RequestLog } from '../rows/request-log.ts'
import { reamOf } from '../rows/stored-ream.ts'
import type { Connections } from '../server/connection.ts'
import type { NodeOptions } from '../server/database-nodes.ts'
import { OutcomeUnknown } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'
import { KeyClaims } from './claim-keys.ts'
import { type LeasedPlan, lostLease, lostSteps } from './lease.ts'
import { abandonLoad, sweepName } from './sweep.ts'
import { tryTransaction, untilKnown } from './try-transaction.ts'
import { type EncodeReam, encodeDrafts } from './write-draft.ts'

/** What a load uses of its node. */
export type LoadTools = Pick<NodeOptions, 'url' | 'encode' | 'sweep'>

/** Pending replacements that one step takes, at most; a ream has at most 500 of them, so every step gets on. */
const REPLACEMENTS_A_STEP = 2_000

/** Reams that go together in one statement. */
const MESSAGE_BYTES = 1024 * 1024

export class PostgresLoadSteps implements LoadSteps {
  readonly #connections: Connections
  readonly #plan: LeasedPlan
  readonly #encode: EncodeReam
  readonly #sweepOthers: () => Promise<void>
  readonly #claims: KeyClaims
  /** How many steps are committed. */
  #steps = 0

  constructor(connections: Connections, plan: LeasedPlan, { encode, sweep }: LoadTools) {
    this.#connections = connections
    this.#plan = plan
    this.#encode = encode
    this.#sweepOthers = sweep
    this.#claims = new KeyClaims(plan, (work) => this.#underLease(work))
  }

  claimKeys(keys: readonly string[], text: Uint8Array | undefined): Promise<readonly number[]> {
    return this.#claims.claim(keys, text)
  }

  putReams(reams: readonly SealedReam[]): Promise<void> {
    const { generationId } = this.#plan.lease
    return this.#underLease(async (transaction) => {
      this.#putReams(transaction, generationId, reams)
    })
  }

  putTail(from: number, raw: Uint8Array): Promise<void> {
    const { shardKey, name, holder, generationId } = this.#plan.lease
    const items = splitItems(raw).map((text) => Buffer.from(text))
    const positions = [...items.keys()].map((index) => from + index)
    return this.#underLease(async (transaction) => {
      void transaction.write('loadTail', shardKey, name, holder, generationId, positions, items)
    })
  }

  stageReplacements(from: number): Promise<number | undefined> {
    const { shardKey, generationId, staging } = this.#plan.lease
    return this.#underLease(async (transaction) => {
      const end = Number.MAX_SAFE_INTEGER
      const pending = await transaction.all('readTail', shardKey, staging, from, end, REPLACEMENTS_A_STEP)
      const changes = byReam(new Map(pending.map(([position, item]) => [Number(position), String(item)])))
      // The last ream of a full step may have more to come: it is left for the next one.
      const goOn = pending.length === REPLACEMENTS_A_STEP ? Math.max(...changes.keys()) : undefined
      if (goOn !== undefined) changes.delete(goOn)
      const found = await transaction.all('readReamsByNumber', shardKey, generationId, [...changes.keys()])
      const drafts = found.map((row) => draftOf(reamOf(row), changes))
      await encodeDrafts(drafts, this.#encode, (ream) => this.#putReams(transaction, staging, [ream]))
      return goOn === undefined ? undefined : goOn * REAM_SIZE
    })
  }

  finish(appended: number, replaced: number): Promise<Head> {
    return finishLoad(this.#connections, this.#plan, this.#encode, { appended, replaced, steps: this.#steps })
  }

  abandon(): Promise<void> {
    return abandonLoad(this.#connections, this.#plan.lease)
  }

  async renew(): Promise<void> {
    const { shardKey, name, holder } = this.#plan.lease
    await this.#connections.lend((rows) => rows.send('renewLease', shardKey, name, holder))
  }

  /** Here first, then what others left behind. */
  async sweep(): Promise<void> {
    await sweepName(this.#connections, this.#plan.lease.name)
    await this.#sweepOthers()
  }

  #putReams(transaction: Transaction, generationId: number, reams: readonly SealedReam[]): void {
    const { shardKey, name, holder } = this.#plan.lease
    for (const part of inParts(reams))
      void transaction.write('loadReams', shardKey, name, holder, generationId, ...columnsOf(part))
  }

  /** Runs a step in a transaction that commits only while the lease is held; what it wrote is otherwise nothing. */
  #underLease<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { shardKey, name, holder } = this.#plan.lease
    return this.#connections.lend((rows) =>
      Transaction.runUnseen(rows, async (transaction) => {
        const [held, result] = await Promise.all([
          transaction.write('holdLease', shardKey, name, holder),
          work(transaction),
        ])
        if (held.count === 0) throw lostLease(name)
        // Last, because steps that run beside this one wait for the row.
        void transaction.write('countStep', shardKey, name, holder)
        await transaction.commit()
        this.#steps++
        return result
      }),
    )
  }
}

/** As many as make a message of some size; a large one goes alone. */
function* inParts(reams: readonly SealedReam[]): Generator<readonly SealedReam[]> {
  let part: SealedReam[] = []
  let bytes = 0
  for (const ream of reams) {
    if (part.length > 0 && bytes + ream.data.byteLength > MESSAGE_BYTES) {
      yield part
      part = []
      bytes = 0
    }
    part.push(ream)
    bytes += ream.data.byteLength
  }
  if (part.length > 0) yield part
}

/** Values for `loadReams`: a list a column, and the bytes of all reams together. */
function columnsOf(reams: readonly SealedReam[]): unknown[] {
  const starts: number[] = []
  let length = 0
  for (const { data } of reams) {
    starts.push(length + 1)
    length += data.byteLength
  }
  return [
    reams.map(({ number }) => number),
    reams.map(({ count }) => count),
    reams.map(({ rawLength }) => rawLength),
    reams.map(({ crc }) => crc),
    reams.map(({ gone }) => gone && Buffer.from(gone)),
    starts,
    reams.map(({ data }) => data.byteLength),
    Buffer.concat(reams.map(({ data }) => data)),
  ]
}

function draftOf(
  ream: ReturnType<typeof reamOf>,
  changes: ReadonlyMap<number, ReadonlyMap<number, string>>,
): ReamDraft {
  const draft = new ReamDraft(ream.number, ream)
  for (const [slot, text] of changes.get(ream.number) ?? []) draft.put(slot, text)
  return draft
}

export async function finishLoad(
  connections: Connections,
  plan: LeasedPlan,
  encode: EncodeReam,
  counts: LoadCounts,
): Promise<Head> {
  const finish = () =>
    tryTransaction(connections, plan.name, (rows) =>
      Transaction.run(rows, (transaction) => commitLoad(transaction, plan, encode, counts)),
    )
  try {
    return await finish()
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    return untilKnown(finish)
  }
}

/** Remembered like a request: should the connection die with the commit, it is found out whether it was done. */
async function commitLoad(
  transaction: Transaction,
  plan: LeasedPlan,
  encode: EncodeReam,
  counts: LoadCounts,
): Promise<Head> {
  const { shardKey, name, holder } = plan.lease
  const before = await lockHead(transaction, name)
  const once = { key: `load ${holder}`, digest: '' }
  const log = new RequestLog(shardKey)
  await log.find(transaction, [once.key])
  const isDone = log.has(once, NO_COLLECTION)
  const shown = headAfterLoad(plan, before && shownHead(before), counts)
  const after = { ...shown, shardKey, generationId: plan.lease.generationId, isGuarded: false }
  const head = log.doOnce(
    once,
    () => NO_COLLECTION,
    () => shown,
  ) as Head
  if (isDone) return head
  const held = await transaction.first('holdLease', shardKey, name, holder)
  if (held === undefined) throw lostLease(name)
  if (Number(held[0]) !== counts.steps) throw lostSteps(name)
  if (counts.replaced > 0) await applyReplacements(transaction, plan, after.next)
  await sealBegun(transaction, plan, encode, after.next)
  writeHead(transaction, before, after)
  if (before !== undefined && plan.isReplacement)
    void transaction.write('addLeftover', shardKey, before.generationId, 0)
  void transaction.write('deleteLease', shardKey, name, holder)
  log.write(transaction)
  await transaction.commit()
  return head
}

/** What took the place of others goes there: reams that were prepared, and items of the tail. */
async function applyReplacements(transaction: Transaction, { lease, base }: LeasedPlan, next: number): Promise<void> {
  const { shardKey, name, holder, generationId, staging } = lease
  void transaction.write('moveStagedReams', shardKey, generationId, staging)
  void transaction.write('addLeftover', shardKey, staging, 0)
  // Only the ream that was begun before and the last one lie in the tail now.
  for (const start of new Set([base, next].filter((end) => end % REAM_SIZE !== 0).map(reamStart))) {
    const found = await transaction.all('readTail', shardKey, staging, start, start + REAM_SIZE, REAM_SIZE)
    if (found.length === 0) continue
    const columns = [found.map(([position]) => position), found.map(([, item]) => item)]
    void transaction.write('loadTail', shardKey, name, holder, generationId, ...columns)
  }
}

function reamStart(position: number): number {
  return position - (position % REAM_SIZE)
}

/** The ream that was begun before the load is full now: its items lie in the tail, the new ones beside the old. */
async function sealBegun(transaction: Transaction, plan: LeasedPlan, encode: EncodeReam, next: number): Promise<void> {
  const { shardKey, generationId, base } = plan.lease
  const start = reamStart(base)
  const number = start / REAM_SIZE
  const end = start + REAM_SIZE
  if (base === start || next < end) return
  const found = await transaction.all('readTail', shardKey, generationId, start, end, REAM_SIZE)
  const items = found.map(([position, item]) => ({ position: Number(position), item: String(item) }))
  const ream = new ReamDraft(number, sealItems(start, end, items))
  await encodeDrafts([ream], encode, ({ count, rawLength, crc, gone, data }) => {
    void transaction.write('putReam', shardKey, generationId, number, count, rawLength, crc, gone, data)
  })
  void transaction.write('deleteTail', shardKey, generationId, start, end)
}
