/** The table that is followed and the queue beside it: one connection, one moment at a time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { joinKey } from '../contract/key.ts'
import type { OwnedBytes } from '../items/owned-bytes.ts'
import { stateOf } from '../postgres/postgres-error.ts'
import { explainPostgresError } from '../tables/postgres-errors.ts'
import { jsonValue, rowAsJson } from '../tables/postgres-json.ts'
import type { Relation } from '../tables/postgres-relation.ts'
import { PostgresSession } from '../tables/postgres-session.ts'
import { quoted } from '../tables/quoted.ts'
import { TableError } from '../tables/table.ts'
import { findFollowable, refusal } from './followable.ts'
import { Followers, LOCK_CLASS, NO_TABLE } from './followers.ts'
import { grants, type Installation, literal, Names, resetStatements, triggerStatements } from './installation.ts'
import { readRecorder, recorderStatements } from './recorder.ts'
import { isNotInTime, LOCK_MS, runStatements } from './run-statements.ts'
import { type Column, missingTriggers, readShape, type Shape } from './shape.ts'
import { refuseStranger, refuseStrangers } from './strangers.ts'

const KEYS_A_QUESTION = 2_000

/** SQLSTATE */
const NO_RIGHT = '42501'
const SEVERAL_ROWS = '21000'

export interface TableOptions {
  readonly url: string
  readonly table: string
  /** As `--key` has it; undefined for the primary key. */
  readonly keyField: string | undefined
  readonly schema: string
  readonly collection: string
  readonly queueRows: number
  readonly signal: AbortSignal
}

/** A row of the table as JSON, and the key by which it was looked for; null where there is none. */
export interface FoundRow {
  readonly key: string
  readonly row: string | null
}

/** The table, or what was installed for following it, is gone for good. */
export class FollowEnded extends TableError {
  constructor(message: string) {
    super('usage', message)
  }
}

/** Somebody dropped the queue, or what belongs to it, but not the follower. */
export class QueueGone extends Error {}

/** An entry of the queue is not a key of the table. */
export class InvalidEntry extends Error {}

/** This role may not install what is needed; `statements` are for one who may. */
export class OwnerNeeded extends TableError {
  readonly statements: readonly string[]

  constructor(message: string, statements: readonly string[], cause: unknown) {
    super('usage', message, { cause })
    this.statements = statements
  }
}

export class FollowedTable {
  /** With the types that they have at this moment. */
  keyColumns: readonly Column[]
  readonly relation: Relation
  readonly followers: Followers
  readonly #session: PostgresSession
  readonly #options: TableOptions
  readonly #moneyDigits: number
  /** All of them, as they are at this moment. */
  #columns: readonly Column[] = []
  #id = ''
  #names: Names

  private constructor(
    session: PostgresSession,
    relation: Relation,
    keyColumns: readonly Column[],
    options: TableOptions,
    moneyDigits: number,
  ) {
    this.#session = session
    this.relation = relation
    this.keyColumns = keyColumns
    this.#options = options
    this.#moneyDigits = moneyDigits
    this.#names = new Names(options.schema, '')
    this.followers = new Followers(session, relation.oid, options)
  }

  /** Refuses what cannot be followed. */
  static async open(options: TableOptions): Promise<FollowedTable> {
    const session = new PostgresSession(options.url, lateSignal(options.signal))
    const hangUp = () => session.hangUp()
    options.signal.addEventListener('abort', hangUp)
    try {
      await session.connect()
      // Names are compared with those of later moments, which begin with this setting.
      await session.run('SET quote_all_identifiers = off')
      const { relation, keyColumns } = await findFollowable(session, options)
      await refuseStrangers(session, new Names(options.schema, ''), relation.oid)
      return new FollowedTable(session, relation, keyColumns, options, await session.moneyDigits())
    } catch (error) {
      session.hangUp()
      options.signal.throwIfAborted()
      throw explainPostgresError(error, options, session.label)
    } finally {
      options.signal.removeEventListener('abort', hangUp)
    }
  }

  get label(): string {
    return `${this.#options.table} in ${this.#session.label}`
  }

  /** Stands for the follower: its queue, its row among the followers, its lock. */
  get id(): string {
    return this.#id
  }

  set id(id: string) {
    this.#id = id
    this.#names = new Names(this.#options.schema, id)
  }

  get names(): Names {
    return this.#names
  }

  get keyNames(): readonly string[] {
    return this.keyColumns.map(({ name }) => name)
  }

  // What is installed

  /** The statements that are still to be run before the table can be followed; none if all is there. */
  async missingStatements(): Promise<string[]> {
    const { names, relation } = this
    const shape = await readShape(this.#session, relation.oid, names)
    if (shape === undefined) throw this.gone()
    const recorder = await readRecorder(this.#session, relation.oid, names)
    refuseStranger(recorder.stranger, this.#session.label)
    return [
      ...recorderStatements(recorder, this.#installation()),
      ...(await this.#strayTriggers(shape)),
      ...[...missingTriggers(shape, names)].flatMap(([member, missing]) => triggerStatements(names, member, missing)),
    ]
  }

  /** Puts right what records the changes. Needs no lock on the table: the next round compares all rows. */
  async repairRecorder(onWait: () => void): Promise<void> {
    for (const isRepaired of [false, true]) {
      const recorder = await readRecorder(this.#session, this.relation.oid, this.names)
      refuseStranger(recorder.stranger, this.#session.label)
      const statements = recorderStatements(recorder, this.#installation())
      if (statements.length === 0) return
      // Somebody may have run reams unfollow while another follower was waited for: that must not be undone.
      if (await this.followers.isRemoved(this.#id)) throw this.unfollowed()
      if (isRepaired || recorder.isOwn === false)
        throw await this.#ownerNeeded(
          statements,
          `the function ${this.names.note} belongs to the role ${recorder.owner}`,
        )
      await this.#run(undefined, async () => statements, onWait)
    }
  }

  /** A part that was detached keeps triggers that only cost it something. Somebody else may own it by now. */
  async #strayTriggers({ members }: Shape): Promise<string[]> {
    const { rows } = await this.#session.ask(
      `SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
      WHERE tgname IN ($1, $2) AND tgrelid <> ALL ($3::oid[]) AND pg_has_role(relowner, 'USAGE')`,
      this.names.rowTrigger,
      this.names.truncateTrigger,
      members.map(({ oid }) => oid),
    )
    return rows.map(([statement]) => String(statement))
  }

  #installation(): Installation {
    const { oid, name } = this.relation
    const table = { oid, name, isPartition: false }
    return { ...this.#options, id: this.#id, names: this.names, table, keyColumns: this.keyColumns }
  }

  /**
   * `find` is called under the lock, when nobody can attach or drop a partition any more. One at a time: two that create the
   * same schema at once, which IF NOT EXISTS does not prevent, would not both get through.
   */
  install(find: () => Promise<readonly string[]>, onWait: () => void): Promise<void> {
    const alone = `SELECT pg_advisory_xact_lock(${LOCK_CLASS}, 0)`
    return this.#run(this.relation.name, async () => [alone, ...(await find())], onWait, find)
  }

  /**
   * Empties the queue and clears the loss; the next round compares all rows. A role that owns nothing can do this too. It takes no
   * lock: without a shape to compare with, transactions that are still open and may have lost changes are waited for later.
   */
  async reset(onWait: () => void): Promise<void> {
    const { names } = this
    // Record the loss first: `setval` is not rolled back if we crash after it.
    const state = "split_part(state, '.', 1) || '.'"
    const forget = `UPDATE ${names.followers} SET state = ${state}, shape = NULL WHERE id = ${literal(this.#id)}`
    await this.#run(undefined, async () => [forget], onWait)
    const find = () => this.missingStatements()
    if ((await find()).length > 0) await this.install(find, onWait)
    const { isOwn } = await readRecorder(this.#session, this.relation.oid, names)
    await this.#run(undefined, async () => resetStatements(this.#installation(), isOwn === true), onWait)
  }

  /** `forOwner`: what its owner can run instead. */
  async #run(
    locked: string | undefined,
    find: () => Promise<readonly string[]>,
    onWait: () => void,
    forOwner = find,
  ): Promise<void> {
    try {
      await runStatements(this.#session, locked, find, { signal: this.#options.signal, onWait })
    } catch (error) {
      if (stateOf(error) === NO_RIGHT) throw await this.#ownerNeeded(await forOwner(), error)
      if (NO_TABLE.includes(stateOf(error))) throw await this.#whatIsGone()
      throw this.explain(error)
    }
  }

  async #ownerNeeded(statements: readonly string[], error: unknown): Promise<OwnerNeeded> {
    const reason = error instanceof Error ? error.message : error
    const parts = await this.#partsOfOthers()
    if (parts.length > 0)
      return new OwnerNeeded(
        `${this.label}: ${reason}. Parts of it belong to other roles. Their owners can run the statements on stdout. Then start again.`,
        parts,
        error,
      )
    const { rows } = await this.#session.ask('SELECT quote_ident(current_user)')
    const script = [...statements, ...grants(this.names, this.relation.name, rows[0]?.[0])]
    return new OwnerNeeded(
      `${this.label}: ${reason}. The owner of the table, with CREATE on the database, can run the statements on stdout instead. Then start again.`,
      script,
      error,
    )
  }

  /** For an owner of the table: what the owners of its partitions and children must grant. */
  async #partsOfOthers(): Promise<string[]> {
    const shape = await readShape(this.#session, this.relation.oid, this.names)
    const partitions = shape?.members.filter(({ isPartition }) => isPartition).map(({ oid }) => oid)
    const children = shape?.members.filter(({ isPartition }) => !isPartition).map(({ oid }) => oid)
    const { rows } = await this.#session.ask(
      `SELECT CASE WHEN c.oid = ANY ($2::oid[]) THEN format('GRANT TRIGGER ON %s TO %I', c.oid::regclass, current_user)
        ELSE format('GRANT %s TO %I', c.relowner::regrole, current_user) END
      FROM pg_class c JOIN pg_class t ON t.oid = $1 AND pg_has_role(t.relowner, 'USAGE')
      WHERE (c.oid = ANY ($2::oid[]) AND NOT has_table_privilege(c.oid, 'TRIGGER'))
        OR (c.oid = ANY ($3::oid[]) AND NOT pg_has_role(c.relowner, 'USAGE'))
      ORDER BY c.oid`,
      this.relation.oid,
      partitions ?? [],
      children ?? [],
    )
    return rows.map(([statement]) => String(statement))
  }

  // One moment

  /** Everything until `finish` or `leave` is of one moment, of the table and of the queue. */
  async begin(): Promise<Moment> {
    const { names, relation } = this
    try {
      const at = await this.#lock()
      const shape = await readShape(this.#session, relation.oid, names)
      const recorder = await readRecorder(this.#session, relation.oid, names)
      const { rows } = await this.#session.ask(
        `SELECT f.state, f.shape, (SELECT is_called FROM ${names.lost}), abs(extract(epoch FROM now() - f.compared_at)) * 1000,
          pg_snapshot_xmin(pg_current_snapshot())::text, pg_snapshot_xmax(pg_current_snapshot())::text,
          (SELECT count(*) FROM (SELECT FROM ${names.queue} LIMIT ${this.#options.queueRows}) q),
          EXISTS (SELECT FROM ${names.queue} WHERE keys IS NULL)
        FROM ${names.followers} f WHERE id = $1`,
        this.#id,
      )
      const [row] = rows
      if (shape === undefined || shape.name !== relation.name) throw this.gone(shape)
      if (row === undefined) throw this.unfollowed()
      const why = refusal(shape)
      if (why !== undefined) throw new FollowEnded(`${this.label} is ${why} by now. The collection stays as it is.`)
      this.#columns = shape.columns
      this.keyColumns = this.keyNames.map(
        (name) => shape.columns.find((column) => column.name === name) ?? this.#noKey(name),
      )
      const [state, before, isLost, comparedMs, oldest, next, waiting, isEmptied] = row
      return {
        state,
        shape: { ...shape, recorder: recorder.version },
        before: parseShape(before),
        isRecorderSound: recorder.stranger === null && recorderStatements(recorder, this.#installation()).length === 0,
        transactions: { oldest: BigInt(oldest), next: BigInt(next) },
        isLost,
        comparedMs: Number(comparedMs),
        at,
        waiting: Number(waiting),
        isEmptied,
      }
    } catch (error) {
      if (!NO_TABLE.includes(stateOf(error))) throw this.explain(error)
      await this.leave()
      throw await this.#whatIsGone()
    }
  }

  /**
   * Begins a transaction with the locks that it needs, and answers when. Whoever locked a partition before the whole waits for
   * this one, and this one for them: they must not be told of a deadlock, so it gives way, before they look for one.
   */
  async #lock(): Promise<number> {
    for (;;) {
      const at = Date.now()
      try {
        const limit = `SET LOCAL statement_timeout = ${LOCK_MS}`
        await this.#session.begin('READ WRITE', [this.relation.name, this.names.queue], limit)
        await this.#session.run('SET LOCAL statement_timeout = 0')
        return at
      } catch (error) {
        if (!isNotInTime(error)) throw error
        await this.leave()
        await sleep(LOCK_MS, undefined, { signal: this.#options.signal })
      }
    }
  }

  /** The keys that are in the queue, each once, in the order in which they came; no more than `limit`. */
  async queuedKeys(limit: number): Promise<string[]> {
    const { rows } = await this.#session
      .ask(
        `SELECT key::text FROM ${this.names.queue}, jsonb_array_elements(keys) key GROUP BY key ORDER BY min(number) LIMIT ${limit}`,
      )
      .catch(rethrowInvalid)
    return rows.map(([key]) => String(key))
  }

  /** The rows with keys from the queue. Throws `InvalidEntry` if one of them is not a key. */
  async *findQueued(keys: readonly string[]): AsyncGenerator<FoundRow> {
    try {
      yield* this.find(keys)
    } catch (error) {
      rethrowInvalid(error)
    }
  }

  /** The rows with these keys, which are JSON arrays as the queue has them. */
  async *find(keys: readonly string[]): AsyncGenerator<FoundRow> {
    const types = this.keyColumns.map(({ type }, index) => `(u.key ->> ${index})::${type} AS k${index}`)
    const texts = this.keyColumns.map(
      (column, index) => `to_json(${jsonValue(`k${index}`, column, this.#moneyDigits)}) #>> '{}'`,
    )
    const where = this.keyColumns.map(({ name, equals }, index) => `t.${quoted(name)} ${equals} k.k${index}`)
    const question = `
      SELECT ARRAY[${texts.join(', ')}]::text[],
        (SELECT ${this.#json('t')}::text FROM ${this.relation.name} t WHERE ${where.join(' AND ')})
      FROM (SELECT u.place, ${types.join(', ')} FROM unnest($1::jsonb[]) WITH ORDINALITY u (key, place) OFFSET 0) k
      ORDER BY k.place`
    for (let from = 0; from < keys.length; from += KEYS_A_QUESTION) {
      const part = keys.slice(from, from + KEYS_A_QUESTION)
      const { rows } = await this.#session.ask(question, part)
      for (const [index, [values, row]] of rows.entries()) {
        if (values.includes(null)) throw new InvalidEntry(`it has no value for each column of the key: ${part[index]}`)
        yield { key: joinKey(values), row }
      }
    }
  }

  /** All rows, in the order of the key. */
  rows(): AsyncIterable<OwnedBytes> {
    const order = this.keyNames.map(quoted).join(', ')
    return this.#session.copy(
      `SELECT ${this.#json('q')} FROM (SELECT * FROM ${this.relation.name} ORDER BY ${order}) AS q`,
    )
  }

  #json(row: string): string {
    return rowAsJson(row, this.#columns, this.#moneyDigits)
  }

  /** The rows that the planner expects. */
  async estimate(): Promise<number | undefined> {
    const { rows } = await this.#session.ask(`EXPLAIN (FORMAT JSON) SELECT FROM ${this.relation.name}`)
    return rows[0]?.[0]?.[0]?.Plan?.['Plan Rows']
  }

  /**
   * Empties the queue of what this moment has seen of it, and no more: `state` is the one of the collection that has all of it.
   * `isCompared`: not only what changed, but all rows.
   */
  async finish(state: string, shape: FollowedShape, isCompared: boolean): Promise<void> {
    const { names } = this
    await this.#session.ask(`DELETE FROM ${names.queue}`)
    await this.#session.ask(
      `UPDATE ${names.followers} SET state = $2, shape = $3, table_name = $4, relation = $5${isCompared ? ', compared_at = now()' : ''} WHERE id = $1`,
      this.#id,
      state,
      JSON.stringify(shape),
      shape.name,
      this.relation.oid,
    )
    await this.#session.run(`SELECT setval('${names.waiting.replaceAll("'", "''")}', 1, false)`, 'COMMIT')
  }

  async leave(): Promise<void> {
    await this.#session.run('ROLLBACK')
  }

  hangUp(): void {
    this.#session.hangUp()
  }

  explain(error: unknown): unknown {
    if (stateOf(error) === SEVERAL_ROWS)
      return new TableError(
        'data',
        `${this.label} has several rows with the same key: a child of it can have keys that it has itself. The collection stays as it is.`,
        { cause: error },
      )
    return explainPostgresError(error, this.#options, this.#session.label)
  }

  #noKey(name: string): never {
    throw new FollowEnded(
      `The column "${name}" of ${this.label}, which is the key, was dropped or renamed. The collection stays as it is. reams unfollow, then follow the table anew, under another name.`,
    )
  }

  unfollowed(): FollowEnded {
    return new FollowEnded(
      `${this.label} is not followed any more: somebody ran reams unfollow. The collection stays as it is.`,
    )
  }

  gone(shape?: Shape): FollowEnded {
    const what = shape === undefined ? 'was dropped' : `is named ${shape.name} by now`
    const advice = shape === undefined ? '' : ` Start again with --table ${shape.name}.`
    return new FollowEnded(`${this.label} ${what}. The collection stays as it is.${advice}`)
  }

  async #whatIsGone(): Promise<FollowEnded | QueueGone> {
    const shape = await readShape(this.#session, this.relation.oid, this.names)
    if (shape?.name !== this.relation.name) return this.gone(shape)
    return (await this.followers.has(this.#id)) ? new QueueGone() : this.unfollowed()
  }
}

/** The table, and what records its changes. Any difference from one round to the next leads to a comparison of all rows. */
export interface FollowedShape extends Shape {
  readonly recorder: string
  /**
   * Set after a change to the recorder: transactions with a lower id may have written rows while nothing was recorded, and may
   * still be open. When they have ended, all rows are compared again.
   */
  readonly unsettledBefore?: string
}

/** Undefined where the text is not one that a follower wrote. Other roles may have been granted UPDATE on it. */
function parseShape(text: string | null): FollowedShape | undefined {
  try {
    const shape = JSON.parse(text ?? 'null')
    const isValid = Array.isArray(shape?.members) && Array.isArray(shape.columns)
    return isValid && /^\d*$/.test(shape.unsettledBefore ?? '') ? shape : undefined
  } catch {
    return undefined
  }
}

export interface Moment {
  /** The collection's state when the queue was last emptied; null before the first load, its id alone after a reset. */
  readonly state: string | null
  readonly shape: FollowedShape
  /** What the table looked like then. */
  readonly before: FollowedShape | undefined
  /** Whether changes are recorded as they should be. */
  readonly isRecorderSound: boolean
  /** The oldest transaction that is still open, and the next one to begin. */
  readonly transactions: { readonly oldest: bigint; readonly next: bigint }
  /** How long ago all rows were loaded or compared, or how long from now, by a clock that was set back since. */
  readonly comparedMs: number
  /** Whether there were changes that the queue could not take. */
  readonly isLost: boolean
  /** It is no earlier: milliseconds since 1970, by the clock of this machine. */
  readonly at: number
  /** Rows in the queue. */
  readonly waiting: number
  /** Whether the table was emptied at once. */
  readonly isEmptied: boolean
}

/**
 * SQLSTATE classes of errors that no entry of the queue causes: the connection, several rows with one key, transactions, locks,
 * resources, the server. Types report a value that they do not take in any of the others. What is wrong beside the entry shows in
 * the comparison.
 */
const OTHER_CAUSES: readonly string[] = ['08', '21', '25', '40', '53', '55', '57', '58']

function rethrowInvalid(error: unknown): never {
  const state = stateOf(error)
  if (state !== undefined && !OTHER_CAUSES.includes(state.slice(0, 2)) && error instanceof Error)
    throw new InvalidEntry(error.message, { cause: error })
  throw error
}

/** A round that is under way may end: cut off between its two commits, it would have to be looked at again. */
const GRACE_MS = 5_000

/** Aborted a while after `signal`. */
function lateSignal(signal: AbortSignal): AbortSignal {
  const late = new AbortController()
  const abort = () => setTimeout(() => late.abort(signal.reason), GRACE_MS).unref()
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return late.signal
}
