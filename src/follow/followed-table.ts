/** The table that is followed and the queue beside it: one connection, one moment at a time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { joinKey } from '../contract/key.ts'
import { stateOf } from '../store/postgres/server/explain-error.ts'
import { explainPostgresError } from '../tables/postgres-errors.ts'
import type { Relation } from '../tables/postgres-relation.ts'
import { PostgresSession } from '../tables/postgres-session.ts'
import { quoted } from '../tables/quoted.ts'
import { TableError } from '../tables/table.ts'
import { findFollowable, refusal } from './followable.ts'
import { Followers, LOCK_CLASS, NO_TABLE } from './followers.ts'
import {
  grants,
  type Installation,
  Names,
  noteFunction,
  queueStatements,
  resetStatements,
  schemaStatements,
  triggerStatements,
} from './installation.ts'
import { isNotInTime, LOCK_MS, runStatements } from './run-statements.ts'
import { type Column, missingTriggers, readShape, type Shape } from './shape.ts'

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
  #id = ''
  #names: Names

  private constructor(
    session: PostgresSession,
    relation: Relation,
    keyColumns: readonly Column[],
    options: TableOptions,
  ) {
    this.#session = session
    this.relation = relation
    this.keyColumns = keyColumns
    this.#options = options
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
      return new FollowedTable(session, relation, keyColumns, options)
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
    const { schema: namespace } = this.#options
    const hasSchema =
      (await this.#session.ask('SELECT FROM pg_namespace WHERE nspname = $1', namespace)).rows.length > 0
    const hasFollowers = await this.#has('follower')
    const hasQueue = await this.#has(...['queue', 'waiting', 'lost'].map((what) => `${what}_${this.#id}`))
    const { rows: functions } = await this.#session.ask(
      'SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = $1 AND proname = $2',
      namespace,
      `note_${this.#id}`,
    )
    const [schema, followers] = schemaStatements(names)
    return [
      ...(hasSchema ? [] : [schema ?? '']),
      ...(hasFollowers ? [] : [followers ?? '']),
      ...(hasQueue ? [] : queueStatements(this.#installation())),
      ...(functions.length > 0 ? [] : [noteFunction(this.#installation())]),
      ...(await this.#strayTriggers(shape)),
      ...[...missingTriggers(shape, names)].flatMap(([member, missing]) => triggerStatements(names, member, missing)),
    ]
  }

  /** By the catalogue, which everybody may read. */
  async #has(...relations: readonly string[]): Promise<boolean> {
    const { rows } = await this.#session.ask(
      'SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = ANY ($2)',
      this.#options.schema,
      relations,
    )
    return rows.length === relations.length
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

  /** The queue begins anew, and all rows will be read. */
  async reset(onWait: () => void): Promise<void> {
    const { names } = this
    // Before all else: whoever ends behind `setval`, which is never rolled back, must not forget that rows were lost.
    const forget = `UPDATE ${names.followers} SET state = split_part(state, '.', 1) || '.' WHERE id = '${this.#id}'`
    await this.#run(undefined, async () => [forget], onWait)
    const find = async () => [...(await this.missingStatements()), ...resetStatements(this.#installation())]
    await this.install(find, onWait)
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
    const { rows } = await this.#session.ask('SELECT quote_ident(current_user)')
    const script = [...statements, ...grants(this.names, this.relation.name, rows[0]?.[0])]
    const reason = error instanceof Error ? error.message : String(error)
    return new OwnerNeeded(
      `${this.label}: ${reason}. The owner of the table, with CREATE on the database, can run the statements on stdout instead. Then start again.`,
      script,
      error,
    )
  }

  // One moment

  /** Everything until `finish` or `leave` is of one moment, of the table and of the queue. */
  async begin(): Promise<Moment> {
    const { names, relation } = this
    try {
      const at = await this.#lock()
      const shape = await readShape(this.#session, relation.oid, names)
      const { rows } = await this.#session.ask(
        `SELECT f.state, f.shape, (SELECT is_called FROM ${names.lost}), extract(epoch FROM now() - f.compared_at) * 1000,
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
      this.keyColumns = this.keyNames.map(
        (name) => shape.columns.find((column) => column.name === name) ?? this.#noKey(name),
      )
      const [state, before, isLost, comparedMs, waiting, isEmptied] = row
      return {
        state,
        shape,
        before: before === null ? undefined : JSON.parse(before),
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
    const { rows } = await this.#session.ask(
      `SELECT key::text FROM ${this.names.queue}, jsonb_array_elements(keys) key GROUP BY key ORDER BY min(number) LIMIT ${limit}`,
    )
    return rows.map(([key]) => String(key))
  }

  /** The rows with these keys, which are JSON arrays as the queue has them. */
  async *find(keys: readonly string[]): AsyncGenerator<FoundRow> {
    const types = this.keyColumns.map(({ type }, index) => `(u.key ->> ${index})::${type} AS k${index}`)
    const texts = this.keyColumns.map((_, index) => `to_json(k${index}) #>> '{}'`)
    const where = this.keyColumns.map(({ name }, index) => `t.${quoted(name)} = k.k${index}`)
    const question = `
      SELECT ARRAY[${texts.join(', ')}]::text[],
        (SELECT row_to_json(t.*)::text FROM ${this.relation.name} t WHERE ${where.join(' AND ')})
      FROM (SELECT u.place, ${types.join(', ')} FROM unnest($1::jsonb[]) WITH ORDINALITY u (key, place) OFFSET 0) k
      ORDER BY k.place`
    for (let from = 0; from < keys.length; from += KEYS_A_QUESTION) {
      const { rows } = await this.#session.ask(question, keys.slice(from, from + KEYS_A_QUESTION))
      for (const [values, row] of rows) yield { key: joinKey(values), row }
    }
  }

  /** All rows, in the order of the key. */
  rows(): AsyncIterable<Uint8Array> {
    const order = this.keyNames.map(quoted).join(', ')
    return this.#session.copy(
      `SELECT row_to_json(q.*) FROM (SELECT * FROM ${this.relation.name} ORDER BY ${order}) AS q`,
    )
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
  async finish(state: string, shape: Shape, isCompared: boolean): Promise<void> {
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

export interface Moment {
  /** The collection's state when the queue was last emptied; null before the first load, its id alone after a reset. */
  readonly state: string | null
  readonly shape: Shape
  /** What the table looked like then. */
  readonly before: Shape | undefined
  /** How long ago all rows were loaded or compared. */
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
