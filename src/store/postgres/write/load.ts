/** A load into PostgreSQL: its beginning, its steps, and the commit that makes all of it visible. */

import { randomUUID } from 'node:crypto'
import { keepsHistory } from '../../../contract/state-tag.ts'
import { checkName, NO_COLLECTION, newId } from '../../collection-rules.ts'
import { bytesOf, type LoggedChange, numberChanges, UNKNOWN_VERSION } from '../../history.ts'
import { splitItems } from '../../item-text.ts'
import {
  headAfterLoad,
  type LeasedPlan,
  type LoadCounts,
  type LoadedHead,
  type LoadSteps,
  lostLease,
  planLoad,
  ReamLoad,
  type StagedHistory,
  type StagedReplacements,
} from '../../load.ts'
import { MAX_POSITION, QUIRE_SIZE, REAM_SIZE, reamsIn, tailStart } from '../../positions.ts'
import type { SealedReam } from '../../ream.ts'
import { byReam, changedReam, ReamDraft } from '../../ream-draft.ts'
import type { Head, Load, LoadOptions } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import { lockHead, type StoredHead, shardKeyOf, shownHead, writeHead } from '../rows/head.ts'
import { putStretches, readHistoryBytes, writeHistory } from '../rows/history.ts'
import { RequestLog } from '../rows/request-log.ts'
import { inMessages, reamColumns, reamOf, reamValues } from '../rows/stored-ream.ts'
import type { Connections } from '../server/connection.ts'
import { explained, OutcomeUnknown, TryAgain } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'
import { KeyClaims } from './claim-keys.ts'
import { explainedWrite } from './explain-write.ts'
import { abandonLoad, findObstacle, type Lease, sweepName, takeLease, tryTransaction, untilKnown } from './lease.ts'
import type { WriterOptions } from './writer.ts'

/** Pending replacements that one step takes, at most; a ream has at most 500 of them, so every step gets on. */
const REPLACEMENTS_A_STEP = 2_000

type Work<T> = (transaction: Transaction) => Promise<T>

export async function runLoad(
  connections: Connections,
  tools: WriterOptions,
  name: string,
  options: LoadOptions,
): Promise<Load> {
  checkName(name)
  const begin = (transaction: Transaction) => beginLoad(transaction, name, options)
  const begun = tryTransaction(connections, name, (rows) => Transaction.run(rows, begin))
  const plan = await explainedWrite(begun, tools.url, connections)
  return new ReamLoad(plan, new PostgresLoadSteps(connections, plan, tools))
}

async function beginLoad(transaction: Transaction, name: string, options: LoadOptions): Promise<PostgresPlan> {
  const head = await lockHead(transaction, name)
  const obstacle = await findObstacle(transaction, name, head)
  if (obstacle !== undefined) throw obstacle
  const plan = planLoad(name, head && shownHead(head), options)
  // A replacement writes to a generation of its own.
  const generationId = (plan.isReplacement ? undefined : head?.generationId) ?? newId()
  const owner = { shardKey: shardKeyOf(name), generationId }
  const lease = { ...owner, name, staging: newId(), base: plan.base, holder: randomUUID() }
  if (!(await takeLease(transaction, lease))) throw new TryAgain(false)
  if (head !== undefined) writeHead(transaction, head, { ...head, isGuarded: true })
  // Somebody may have made the collection before the lease was there.
  else if ((await lockHead(transaction, name)) !== undefined) throw new TryAgain(false)
  await transaction.commit()
  return { ...plan, lease, id: head?.id ?? NO_COLLECTION, generation: head?.generation ?? 1 }
}

interface PostgresPlan extends LeasedPlan<Lease> {
  /** Of the collection as it is before the load, if it is there. */
  readonly id: number
  readonly generation: number
}

class PostgresLoadSteps implements LoadSteps {
  readonly #connections: Connections
  readonly #plan: PostgresPlan
  readonly #tools: WriterOptions
  readonly #claims: KeyClaims
  /** How many steps are committed. */
  #steps = 0

  constructor(connections: Connections, plan: PostgresPlan, tools: WriterOptions) {
    this.#connections = connections
    this.#plan = plan
    this.#tools = tools
    this.#claims = new KeyClaims(plan, (work) => this.#underLease(work))
  }

  claimKeys(keys: readonly string[], text: Uint8Array | undefined): Promise<readonly number[]> {
    return this.#explained(this.#claims.claim(keys, text))
  }

  putReams(reams: readonly SealedReam[]): Promise<void> {
    const { generationId } = this.#plan.lease
    return this.#step(async (transaction) => this.#putReams(transaction, generationId, reams))
  }

  putTail(from: number, raw: Uint8Array): Promise<void> {
    const { shardKey, name, holder, generationId } = this.#plan.lease
    const items = splitItems(raw).map((text) => Buffer.from(text))
    const positions = [...items.keys()].map((index) => from + index)
    return this.#step(async (transaction) => {
      void transaction.write('loadTail', shardKey, name, holder, generationId, positions, items)
    })
  }

  stageReplacements(from: number, before: StagedHistory): Promise<StagedReplacements> {
    const { lease, base, firstChange, generation, id } = this.#plan
    const { shardKey, generationId, staging } = lease
    return this.#step(async (transaction) => {
      const pending = await transaction.all('readTail', shardKey, staging, from, MAX_POSITION, REPLACEMENTS_A_STEP)
      const changes = byReam(new Map(pending.map(([position, item]) => [Number(position), String(item)])))
      // The last ream of a full step may have more to come: it is left for the next one.
      const goOn = pending.length === REPLACEMENTS_A_STEP ? Math.max(...changes.keys()) : undefined
      if (goOn !== undefined) changes.delete(goOn)
      const found = await transaction.all('readReamsByNumber', shardKey, generationId, [...changes.keys()])
      const reams = found.map((row) => reamOf(row))
      // What is wanted of a ream is what was there before the load.
      const wantedEnd = (number: number) => (firstChange === undefined ? 0 : base - number * REAM_SIZE)
      const drafts = reams.map((ream) =>
        changedReam(ream, changes.get(ream.number) ?? new Map(), wantedEnd(ream.number)),
      )
      const log: LoggedChange[] = []
      for await (const ream of this.#tools.pool.seal(drafts)) {
        this.#putReams(transaction, staging, [ream])
        for (const [slot, text] of ream.before)
          log.push({ kind: 'replace', position: ream.number * REAM_SIZE + slot, count: 1, before: text })
      }
      const first = (firstChange ?? 0) + before.changes
      const stretches = numberChanges({ version: UNKNOWN_VERSION, generation }, first, log)
      await putStretches(transaction, { id, ...lease }, stretches)
      const staged = { changes: before.changes + stretches.length, bytes: before.bytes + bytesOf(stretches) }
      return { goOn: goOn === undefined ? undefined : goOn * REAM_SIZE, staged }
    })
  }

  finish(loaded: Omit<LoadCounts, 'steps'>): Promise<Head> {
    const counts = { ...loaded, steps: this.#steps }
    const commit = (transaction: Transaction) => this.#commit(transaction, counts)
    const finish = () => tryTransaction(this.#connections, this.#plan.name, (rows) => Transaction.run(rows, commit))
    const finished = finish().catch((error: unknown) => {
      if (!(error instanceof OutcomeUnknown)) throw error
      return untilKnown(finish)
    })
    return this.#explained(finished)
  }

  abandon(): Promise<void> {
    const { name, holder } = this.#plan.lease
    return this.#explained(abandonLoad(this.#connections, name, holder))
  }

  async renew(): Promise<void> {
    const { shardKey, name, holder } = this.#plan.lease
    await this.#connections.lend((rows) => rows.send('renewLease', shardKey, name, holder))
  }

  /** Here first, then what others left behind. */
  async sweep(): Promise<void> {
    await sweepName(this.#connections, this.#plan.name)
    await this.#tools.sweep()
  }

  #putReams(transaction: Transaction, generationId: number, reams: readonly SealedReam[]): void {
    const { shardKey, name, holder } = this.#plan.lease
    for (const part of inMessages(reams, ({ data }) => data.byteLength))
      void transaction.write('loadReams', shardKey, name, holder, generationId, ...reamValues(part))
  }

  #step<T>(work: Work<T>): Promise<T> {
    return this.#explained(this.#underLease(work))
  }

  #explained<T>(work: Promise<T>): Promise<T> {
    return explained(work, this.#tools.url)
  }

  /** Runs a step in a transaction that commits only while the lease is held; what it wrote is otherwise nothing. */
  #underLease<T>(work: Work<T>): Promise<T> {
    const { shardKey, name, holder } = this.#plan.lease
    return this.#connections.lend((rows) =>
      Transaction.runUnseen(rows, async (transaction) => {
        const held = transaction.write('holdLease', shardKey, name, holder)
        const [{ count }, result] = await Promise.all([held, work(transaction)])
        if (count === 0) throw lostLease(name)
        // Last, because steps that run beside this one wait for the row.
        void transaction.write('countStep', shardKey, name, holder)
        await transaction.commit()
        this.#steps++
        return result
      }),
    )
  }

  /** Remembered like a request: should the connection die with the commit, it is found out whether it was done. */
  async #commit(transaction: Transaction, counts: LoadCounts): Promise<Head> {
    const { lease, isReplacement } = this.#plan
    const { shardKey, name, holder, generationId } = lease
    const before = await lockHead(transaction, name)
    const once = { key: `load ${holder}`, digest: '' }
    const log = new RequestLog(shardKey)
    await log.find(transaction, [once.key])
    const replacements = counts.replaced > 0 ? await this.#replacementsInTail(transaction, counts.appended) : []
    let loaded: LoadedHead | undefined
    const makeHead = (): Head => {
      loaded = headAfterLoad(this.#plan, before && shownHead(before), counts, loggedOf(replacements, lease.base))
      return loaded.head
    }
    const head = log.doOnce(once, () => NO_COLLECTION, makeHead) as Head
    if (loaded === undefined) return head
    const held = await transaction.first('holdLease', shardKey, name, holder)
    if (held === undefined) throw lostLease(name)
    if (Number(held[0]) !== counts.steps) throw lostSteps(name)
    if (counts.replaced > 0) this.#applyReplacements(transaction, replacements)
    await this.#closeBegun(transaction, head)
    const hasStrays = !loaded.usesStaged && counts.staged.changes > 0
    const stored = { ...head, shardKey, generationId, isGuarded: hasStrays }
    writeHead(transaction, before, stored)
    if (hasStrays) {
      // Nobody writes to the collection until the changes that belong to nothing are gone.
      void transaction.write('addHistoryLeftover', shardKey, head.id, head.changes)
      void transaction.write('addLeftover', shardKey, generationId, head.next)
    }
    const replacedBytes = before !== undefined && isReplacement ? await leave(transaction, before) : 0
    if (keepsHistory(head) && head.commitId !== before?.commitId)
      await this.#writeHistory(transaction, before, stored, loaded, counts.staged.bytes + replacedBytes)
    void transaction.write('deleteLease', shardKey, name, holder)
    log.write(transaction)
    await transaction.commit()
    return head
  }

  /** What takes the place of others in the tail, with what was there before. */
  async #replacementsInTail(transaction: Transaction, appended: number): Promise<TailReplacement[]> {
    const { shardKey, generationId, staging, base } = this.#plan.lease
    const next = base + appended
    // What the load added to a ream that was begun before lies in the tail now, and so does what is left over at its end.
    const begun = { from: tailStart({ next: base }), to: Math.min(next, reamEnd(base)) }
    const replacements: TailReplacement[] = []
    for (const { from, to } of [begun, { from: Math.max(begun.to, tailStart({ next })), to: next }]) {
      const read = (id: number) => transaction.all('readTail', shardKey, id, from, to, REAM_SIZE)
      const [staged, stored] = await Promise.all([read(staging), read(generationId)])
      const texts = new Map(stored.map(([position, item]) => [position, String(item)]))
      for (const [position, item] of staged)
        replacements.push({ position: Number(position), item, before: texts.get(position) })
    }
    return replacements
  }

  /** What took the place of others goes there: reams that were prepared, and items of the tail. */
  #applyReplacements(transaction: Transaction, inTail: readonly TailReplacement[]): void {
    const { shardKey, name, holder, generationId, staging } = this.#plan.lease
    void transaction.write('moveStagedReams', shardKey, generationId, staging)
    void transaction.write('addLeftover', shardKey, staging, 0)
    const columns = [inTail.map(({ position }) => position), inTail.map(({ item }) => item)]
    if (inTail.length > 0) void transaction.write('loadTail', shardKey, name, holder, generationId, ...columns)
  }

  async #writeHistory(
    transaction: Transaction,
    before: StoredHead | undefined,
    head: StoredHead,
    { log, firstChange }: LoadedHead,
    bytes: number,
  ): Promise<void> {
    const bytesBefore = before === undefined ? 0 : await readHistoryBytes(transaction, before)
    await writeHistory(transaction, head, numberChanges(head, firstChange, log), bytes, bytesBefore)
  }

  /** The ream that was begun before the load: its new items lie in the tail, and those that make whole quires go to the others. */
  async #closeBegun(transaction: Transaction, head: Head): Promise<void> {
    const { shardKey, generationId, base } = this.#plan.lease
    const [from, to] = [tailStart({ next: base }), Math.min(tailStart(head), reamEnd(base))]
    if (from >= to) return
    const number = reamEnd(base) / REAM_SIZE - 1
    const [row] = await transaction.all('readReamsByNumber', shardKey, generationId, [number])
    const found = await transaction.all('readTail', shardKey, generationId, from, to, REAM_SIZE)
    const items = found.map(([position, item]) => ({ position: Number(position), item: String(item) }))
    const draft = new ReamDraft(number, row && reamOf(row))
    for (let start = from; start < to; start += QUIRE_SIZE) draft.close(start, items)
    for await (const ream of this.#tools.pool.seal([draft]))
      void transaction.write('putReam', shardKey, generationId, ...reamColumns(ream))
    void transaction.write('deleteTail', shardKey, generationId, from, to)
  }
}

/** An item of the tail that a load replaces. */
interface TailReplacement {
  readonly position: number
  readonly item: unknown
  readonly before: string | undefined
}

/** Those that were there before the load, as changes. */
function loggedOf(replacements: readonly TailReplacement[], base: number): LoggedChange[] {
  return replacements
    .filter(({ position }) => position < base)
    .map(({ position, before }) => ({ kind: 'replace', position, count: 1, before }))
}

/** The generation before a replacement: kept where history is, and else left over. Answers how much of the history it is, about. */
async function leave(transaction: Transaction, before: StoredHead): Promise<number> {
  const { shardKey, id, generation, generationId, next, live } = before
  if (!keepsHistory(before)) {
    void transaction.write('addLeftover', shardKey, generationId, 0)
    return 0
  }
  void transaction.write('putReplaced', shardKey, id, generation, generationId, next, live)
  const [reamBytes] = (await transaction.first('readReamBytes', shardKey, generationId)) ?? []
  return Number(reamBytes ?? 0) * reamsIn(before)
}

/** Where the ream ends that was begun before a position; the position itself where none was. */
function reamEnd(position: number): number {
  return Math.ceil(position / REAM_SIZE) * REAM_SIZE
}

/** Steps are not waited for until the disk has them: a crash of the database takes the last of them back. */
function lostSteps(name: string): StoreError {
  return new StoreError(
    'lease-lost',
    `The database crashed and lost some of what was loaded into "${name}". Nothing of the load was kept; start it again.`,
  )
}
