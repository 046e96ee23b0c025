/** Random SQL against a followed table: at every quiet moment the collection is the table, and no statement fails because it is followed. */

import { describe, it } from 'node:test'
import fc from 'fast-check'
import { aMoment, CONNECTIONS, FollowedTwins, type Source, sharedSource } from './followed-twins.ts'

/** Each connection writes its own keys only, so that no one waits for another. */
const KEYS = 27
/** A table and its two children have keys of their own: nothing else would keep them unique. */
const CHILDREN = 3

interface KeyKind {
  /** The columns, without constraints. */
  readonly columns: Readonly<Record<string, string>>
  /** Values of the columns for a number, as the text of a literal. Those of another variant are the same to PostgreSQL, or not. */
  readonly values: (n: number, variant: number) => readonly string[]
  /** Types that the first column may become. */
  readonly types?: readonly string[]
  /** To be run before, once. */
  readonly before?: string
}

const ODD = 'a,b|a\\,b|a\\|/|ä|é|😀| |"|o\'k|\u2028|{}|NULL|null|%|\uFEFFx|a\nb|\u0001'.split('|')
const NAMES = ODD.map((text, index) => (ODD.indexOf(text) === index ? text : `${text}${index}`))

const KEY_KINDS: Readonly<Record<string, KeyKind>> = {
  bigint: { columns: { id: 'bigint' }, values: (n) => [`${n * 1e14 - 1e15}`], types: ['numeric', 'text', 'bigint'] },
  int: { columns: { id: 'int' }, values: (n) => [`${n}`], types: ['bigint', 'text', 'int', 'numeric'] },
  text: {
    columns: { 'i,d': 'text' },
    values: (n) => [`${NAMES[n % NAMES.length]}${n < NAMES.length ? '' : n}`],
    types: ['varchar(20)', 'text', 'char(20)'],
  },
  varchar: {
    columns: { id: 'varchar(7)' },
    values: (n) => [`key${'x'.repeat(n % 3)}${n}`],
    types: ['varchar(20)', 'text'],
  },
  composite: {
    columns: { a: 'int', 'b\\"c': 'text' },
    values: (n) => [`${n % 4}`, NAMES[n % NAMES.length] ?? ''],
    types: ['bigint', 'text'],
  },
  uuid: { columns: { id: 'uuid' }, values: (n) => [`a0eebc99-9c0b-4ef8-bb6d-6bb9bd3800${String(n).padStart(2, '0')}`] },
  timestamptz: {
    columns: { at: 'timestamptz' },
    values: (n, variant) => [
      `${['2024-10-27 00:30', '1850-01-01 12:00', '0044-03-15 12:00'][n % 3]}:${String(n).padStart(2, '0')}.5${variant ? '+00' : ' Z'}${n % 3 === 2 ? ' BC' : ''}`,
    ],
    types: ['timestamptz(3)', 'text'],
  },
  interval: { columns: { span: 'interval' }, values: (n) => [`-1 years ${n} days -04:05:06`] },
  numeric: { columns: { id: 'numeric' }, values: (n) => [`1${'0'.repeat(n)}${n}`], types: ['numeric(40)', 'text'] },
  double: { columns: { id: 'double precision' }, values: (n) => [`${999_999_999_999_000 + n}`], types: ['numeric'] },
  bytes: { columns: { id: 'bytea' }, values: (n) => [`\\xde5c${String(n + 10)}`] },
  fixed: { columns: { id: 'char(5)' }, values: (n) => [`k${n}`], types: ['char(8)', 'text'] },
  folded: {
    columns: { id: 'text COLLATE public.reams_test_folded' },
    values: (n, variant) => [variant ? `key ß${n}` : `Key ß${n}`],
    before: `CREATE COLLATION IF NOT EXISTS public.reams_test_folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
  },
}

export type Layout = 'plain' | 'partitioned' | 'inherited'

interface Plan {
  readonly layout: Layout
  readonly key: string
  readonly isDeferrable: boolean
  readonly queueRows: number
  readonly steps: readonly Step[]
}

interface Step {
  readonly kind: Kind
  readonly connection: number
  readonly n: number
  readonly m: number
  readonly variant: number
  readonly pick: number
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

class Writer {
  readonly layout: Layout
  readonly isDeferrable: boolean
  readonly #kind: KeyKind

  constructor({ layout, key, isDeferrable }: Plan) {
    this.layout = layout
    this.isDeferrable = isDeferrable
    this.#kind = KEY_KINDS[key] ?? { columns: {}, values: () => [] }
  }

  get #names(): string[] {
    return Object.keys(this.#kind.columns).map(quoted)
  }

  get key(): string {
    return this.#names.join(', ')
  }

  get keyTypes(): readonly string[] {
    return this.#kind.types ?? []
  }

  get firstKeyColumn(): string {
    return this.#names[0] ?? ''
  }

  definition(): string[] {
    const key = Object.entries(this.#kind.columns).map(([name, type]) => `${quoted(name)} ${type} NOT NULL`)
    const primary = `PRIMARY KEY (${this.key})${this.isDeferrable ? ' DEFERRABLE INITIALLY DEFERRED' : ''}`
    const columns = `${key.join(', ')}, v text, w int, j json, x0 int DEFAULT 7, x1 text`
    const before = this.#kind.before === undefined ? [] : [this.#kind.before]
    if (this.layout === 'plain') return [...before, `CREATE TABLE t (${columns}, ${primary})`]
    if (this.layout === 'inherited')
      return [
        ...before,
        `CREATE TABLE t (${columns}, ${primary})`,
        ...['c1', 'c2'].map((child) => `CREATE TABLE ${child} (own int, ${primary}) INHERITS (t)`),
      ]
    return [
      ...before,
      `CREATE TABLE t (${columns}, ${primary}) PARTITION BY HASH (${this.key})`,
      this.#partition(0),
      this.#partition(1),
      // Its columns stand in another order.
      `CREATE TABLE p2 (w int, gone int, x1 text, v text, j json, x0 int DEFAULT 8, ${key.join(', ')})`,
      'ALTER TABLE p2 DROP COLUMN gone',
      `ALTER TABLE t ATTACH PARTITION p2 ${this.bounds(2)}`,
      `${this.#partition(3)} PARTITION BY HASH (${this.key})`,
      'CREATE TABLE p30 PARTITION OF p3 FOR VALUES WITH (MODULUS 8, REMAINDER 3)',
      'CREATE TABLE p31 PARTITION OF p3 FOR VALUES WITH (MODULUS 8, REMAINDER 7)',
    ]
  }

  #partition(number: number): string {
    return `CREATE TABLE p${number} PARTITION OF t ${this.bounds(number)}`
  }

  bounds(number: number): string {
    return `FOR VALUES WITH (MODULUS 4, REMAINDER ${number})`
  }

  /** The table that a row with this key is inserted into. */
  home(n: number): string {
    return this.layout === 'inherited' ? (['t', 'c1', 'c2'][Math.trunc(n / CONNECTIONS) % CHILDREN] ?? 't') : 't'
  }

  /** Another key that the row with key `n` may get. */
  other(n: number, m: number): number {
    const step = this.layout === 'inherited' ? CONNECTIONS * CHILDREN : CONNECTIONS
    return (n + step * (1 + (m % (KEYS / step - 1)))) % KEYS
  }

  values(n: number, variant: number): string {
    return this.#kind.values(n, variant).map(literal).join(', ')
  }

  #equal(n: number, variant: number): string[] {
    const values = this.#kind.values(n, variant)
    return this.#names.map((name, index) => `${name} = ${literal(values[index] ?? '')}`)
  }

  where(n: number, variant = 0): string {
    return this.#equal(n, variant).join(' AND ')
  }

  set(n: number, variant = 0): string {
    return this.#equal(n, variant).join(', ')
  }

  insert(n: number, variant: number, text: string, into = this.home(n)): string {
    return `INSERT INTO ${into} (${this.key}, v, w, j) VALUES (${this.values(n, variant)}, ${text}, ${n}, '{"n" :\n ${n}}')`
  }

  move(n: number, to: number, variant = 0): string {
    return `UPDATE t SET ${this.set(to, variant)} WHERE ${this.where(n)}`
  }

  /** A partition, or a child. */
  part(pick: number): string {
    if (this.layout === 'plain') return 't'
    const parts = this.layout === 'inherited' ? ['c1', 'c2'] : ['p0', 'p1', 'p2', 'p3', 'p30', 'p31']
    return parts[pick % parts.length] ?? 't'
  }
}

const TYPES = ['int', 'text', 'numeric', 'bigint', 'varchar(30)']
const typeOf = (m: number): string => TYPES[m % TYPES.length] ?? ''

/** The statements that a step sends. */
type Make = (writer: Writer, step: Step) => readonly string[]

const text = ({ m, pick }: Step): string => (pick === 0 ? 'NULL' : literal(`${NAMES[m % NAMES.length]} ${pick}`))
const column = (pick: number): string => `x${pick % 3}`

/** What any application does. */
const FREQUENT = {
  insert: (writer, step) => [writer.insert(step.n, step.variant, text(step))],
  insertMany: (writer, step) =>
    [0, 1, 2].map((more) => writer.insert((step.n + more * CONNECTIONS) % KEYS, step.variant, text(step))),
  update: (writer, step) => [`UPDATE t SET v = ${text(step)}, w = w + 1 WHERE ${writer.where(step.n, step.variant)}`],
  touch: (writer, { n }) => [`UPDATE t SET v = v WHERE ${writer.where(n)}`],
  move: (writer, { n, m, variant }) => [writer.move(n, writer.other(n, m), variant)],
  moveAndBack: (writer, { n, m }) => [writer.move(n, writer.other(n, m)), writer.move(writer.other(n, m), n)],
  respell: (writer, { n, variant }) => [writer.move(n, n, variant)],
  respellAnew: (writer, step) => [
    `DELETE FROM t WHERE ${writer.where(step.n)}`,
    writer.insert(step.n, step.variant, text(step)),
  ],
  swap: (writer, { n, m }) => {
    const other = writer.other(n, m)
    return [
      `UPDATE t SET ${writer.set(other)}, w = -1 WHERE ${writer.where(n)}`,
      `UPDATE t SET ${writer.set(n)} WHERE ${writer.where(other)} AND w <> -1`,
    ]
  },
  rotate: (writer, { n, m }) => {
    const second = writer.other(n, m)
    const third = writer.other(second, m)
    return [writer.move(n, third), writer.move(second, n), writer.move(third, second)]
  },
  upsert: (writer, step) => [
    `${writer.insert(step.n, step.variant, text(step))} ON CONFLICT (${writer.key}) DO UPDATE SET v = excluded.v || 'u'`,
  ],
  upsertKey: (writer, step) => [
    `${writer.insert(step.n, step.variant, text(step))} ON CONFLICT (${writer.key}) DO UPDATE SET ${writer.set(writer.other(step.n, step.m))}`,
  ],
  merge: (writer, step) => [
    `MERGE INTO t USING (SELECT) s ON ${writer.where(step.n)} WHEN MATCHED AND w % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = ${text(step)}, w = w + 1`,
  ],
  delete: (writer, { n, variant }) => [`DELETE FROM t WHERE ${writer.where(n, variant)}`],
  deleteAndInsert: (writer, step) => [
    `DELETE FROM t WHERE ${writer.where(step.n)}`,
    writer.insert(step.n, step.variant, text(step)),
  ],
  insertAndDelete: (writer, step) => [
    writer.insert(step.n, step.variant, text(step)),
    `DELETE FROM t WHERE ${writer.where(step.n)}`,
  ],
  undone: (writer, step) => [
    'SAVEPOINT undone',
    `DELETE FROM t WHERE ${writer.where(step.n)}`,
    writer.insert(writer.other(step.n, step.m), 0, text(step)),
    'ROLLBACK TO undone',
  ],
  replica: (writer, step) => [
    // It also turns off the triggers of PostgreSQL that keep keys unique when that is checked at the end.
    `SET session_replication_role = ${writer.isDeferrable ? 'local' : 'replica'}`,
    writer.insert(step.n, 0, text(step)),
    writer.move(writer.other(step.n, step.m), step.n),
    'SET session_replication_role = origin',
  ],
  changePart: (writer, step) => [
    `UPDATE ${writer.part(step.pick)} SET v = ${text(step)} WHERE ${writer.where(step.n)}`,
    `DELETE FROM ${writer.part(step.pick)} WHERE ${writer.where(writer.other(step.n, step.m))}`,
  ],
  begin: () => ['BEGIN'],
  commit: () => ['COMMIT'],
  rollback: () => ['ROLLBACK'],
  savepoint: () => ['SAVEPOINT kept'],
  rollbackTo: () => ['ROLLBACK TO kept'],
  quiet: () => [],
  moment: () => [],
  leave: () => [],
} satisfies Record<string, Make>

/** Statements that change all rows, the columns or the triggers, and so need the table for themselves. */
const RARE = {
  updateAll: () => ['UPDATE t SET w = w + 1'],
  deleteSome: (_, { pick }) => [`DELETE FROM t WHERE w % 4 = ${pick % 4}`],
  truncate: () => ['TRUNCATE t'],
  truncateAndInsert: (writer, step) => [
    writer.insert(step.n, 0, text(step)),
    'TRUNCATE t',
    writer.insert(writer.other(step.n, step.m), 0, text(step)),
    writer.insert(step.n, 1, text(step)),
  ],
  truncateUndone: (writer, step) => [
    'SAVEPOINT undone',
    'TRUNCATE t',
    writer.insert(step.n, 0, text(step)),
    'ROLLBACK TO undone',
  ],
  truncateOnly: (_, { pick }) => [pick % 2 ? 'TRUNCATE ONLY t' : 'TRUNCATE t CASCADE'],
  addColumn: (_, { pick, m }) => [`ALTER TABLE t ADD COLUMN ${column(pick)} ${typeOf(m)}`],
  addDefault: (_, { pick, m, n }) => [`ALTER TABLE t ADD COLUMN ${column(pick)} ${typeOf(m)} DEFAULT '${n}'`],
  addSerial: (_, { pick }) => [`ALTER TABLE t ADD COLUMN ${column(pick)} int GENERATED ALWAYS AS (w * 2) STORED`],
  dropColumn: (_, { pick }) => [`ALTER TABLE t DROP COLUMN ${column(pick)}`],
  addAnew: (_, { pick, m, n }) => [
    `ALTER TABLE t DROP COLUMN IF EXISTS ${column(pick)}`,
    `ALTER TABLE t ADD COLUMN ${column(pick)} ${TYPES[m % 2]} DEFAULT '${n}'`,
  ],
  renameColumn: (_, { pick, m }) => [`ALTER TABLE t RENAME COLUMN ${column(pick)} TO ${column(m)}`],
  swapNames: (_, { pick, m }) => [
    `ALTER TABLE t RENAME COLUMN ${column(pick)} TO between`,
    `ALTER TABLE t RENAME COLUMN ${column(m)} TO ${column(pick)}`,
    `ALTER TABLE t RENAME COLUMN between TO ${column(m)}`,
  ],
  retype: (_, { pick, m }) => [
    `ALTER TABLE t ALTER COLUMN ${column(pick)} TYPE ${typeOf(m)} USING ${column(pick)}::${typeOf(m)}`,
  ],
  recompute: () => ['ALTER TABLE t ALTER COLUMN w TYPE int USING w + 100'],
  retypeKey: (writer, { m }) => {
    const type = writer.keyTypes[m % writer.keyTypes.length]
    const { firstKeyColumn } = writer
    return type === undefined
      ? []
      : [`ALTER TABLE t ALTER COLUMN ${firstKeyColumn} TYPE ${type} USING ${firstKeyColumn}::${type}`]
  },
  vacuum: (_, { pick }) => [pick % 2 ? 'VACUUM FULL t' : 'VACUUM t'],
  cluster: () => ['CLUSTER t USING t_pkey'],
  triggersOff: (writer, step) => [
    `ALTER TABLE ${step.m % 2 ? 't' : writer.part(step.pick)} DISABLE TRIGGER ${writer.isDeferrable || step.m % 2 ? 'USER' : 'ALL'}`,
    writer.insert(step.n, 0, text(step)),
    `UPDATE t SET v = 'unseen' WHERE ${writer.where(writer.other(step.n, step.m))}`,
    ...([[], ['ALTER TABLE t ENABLE TRIGGER USER'], [everyTrigger('ALTER TABLE %1$s ENABLE ALWAYS TRIGGER %2$I')]][
      step.m % 3
    ] ?? []),
  ],
  triggersGone: (writer, step) => [everyTrigger('DROP TRIGGER %2$I ON %1$s'), writer.insert(step.n, 0, text(step))],
} satisfies Record<string, Make>

/** Statements for partitions and children, which also run on their own. */
const OF_PARTS = {
  truncatePart: (writer, { pick }) => [`TRUNCATE ${writer.part(pick)}`],
  detach: (writer, { pick }) => detach(writer, pick),
  attach: (writer, { pick }) => attach(writer, pick),
  detachAndAttach: (writer, step) => [
    ...detach(writer, step.pick),
    `UPDATE ${writer.part(step.pick)} SET v = 'outside'`,
    `DELETE FROM ${writer.part(step.pick)} WHERE ${writer.where(step.n)}`,
    ...attach(writer, step.pick),
  ],
  dropPart: (writer, { pick }) => (writer.layout === 'plain' ? [] : [`DROP TABLE ${writer.part(pick)}`]),
  newPart: (writer, { pick }) => newPart(writer, pick),
  // Locks a part first, then the whole.
  partThenAll: (writer, step) => [
    `TRUNCATE ${writer.part(step.pick)}`,
    `ALTER TABLE t ALTER COLUMN v SET DEFAULT ${text(step)}`,
  ],
} satisfies Record<string, Make>

const KINDS = { ...FREQUENT, ...RARE, ...OF_PARTS }

type Kind = keyof typeof KINDS

function everyTrigger(statement: string): string {
  return `DO $$ DECLARE r record; BEGIN
    FOR r IN SELECT tgrelid::regclass AS relation, tgname FROM pg_trigger
      WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema::regnamespace) AND NOT tgisinternal AND tgparentid = 0
    LOOP EXECUTE format('${statement}', r.relation, r.tgname); END LOOP; END $$`
}

const parentOf = (part: string): string => (part.length === 3 ? 'p3' : 't')

function boundsOf(writer: Writer, part: string): string {
  return part.length === 3
    ? `FOR VALUES WITH (MODULUS 8, REMAINDER ${part === 'p30' ? 3 : 7})`
    : writer.bounds(Number(part.slice(1)))
}

function detach(writer: Writer, pick: number): string[] {
  const part = writer.part(pick)
  if (writer.layout === 'plain') return []
  return writer.layout === 'inherited'
    ? [`ALTER TABLE ${part} NO INHERIT t`]
    : [`ALTER TABLE ${parentOf(part)} DETACH PARTITION ${part}`]
}

function attach(writer: Writer, pick: number): string[] {
  const part = writer.part(pick)
  if (writer.layout === 'plain') return []
  return writer.layout === 'inherited'
    ? [`ALTER TABLE ${part} INHERIT t`]
    : [`ALTER TABLE ${parentOf(part)} ATTACH PARTITION ${part} ${boundsOf(writer, part)}`]
}

function newPart(writer: Writer, pick: number): string[] {
  const part = writer.part(pick)
  if (writer.layout === 'plain') return []
  return writer.layout === 'inherited'
    ? [`CREATE TABLE ${part} (PRIMARY KEY (${writer.key})) INHERITS (t)`]
    : [`CREATE TABLE ${part} PARTITION OF ${parentOf(part)} ${boundsOf(writer, part)}`]
}

/** Runs a plan: keeps the transactions of the connections apart, so that none waits for another. */
class Run {
  readonly #twins: FollowedTwins
  readonly #writer: Writer
  readonly #open = new Set<number>()
  #isFollowed = true
  /** Whoever has locked the table in a transaction that is open. */
  #alone: number | undefined

  constructor(twins: FollowedTwins, writer: Writer) {
    this.#twins = twins
    this.#writer = writer
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'quiet') return this.rest(step.pick)
    if (step.kind === 'moment') return aMoment()
    if (step.kind === 'leave') return this.#leave(step.pick)
    const connection = step.connection % CONNECTIONS
    const n = step.n - (step.n % CONNECTIONS) + connection
    const make: Make = KINDS[step.kind]
    const sql = make(this.#writer, { ...step, n })
    const isAlone = !(step.kind in FREQUENT)
    // Outside of a transaction.
    const isBare = ['vacuum', 'cluster'].includes(step.kind)
    if (this.#alone !== undefined && this.#alone !== connection) await this.#close(this.#alone, step.pick)
    if (isAlone)
      for (const other of [...this.#open]) if (other !== connection || isBare) await this.#close(other, step.pick)
    if (['begin', 'commit', 'rollback'].includes(step.kind)) return this.#control(connection, step.kind)
    if (!isAlone && step.pick % 4 > 1) await this.#control(connection, 'begin')
    const isOwn = sql.length > 1 && !this.#open.has(connection)
    if (isOwn) await this.#control(connection, 'begin')
    for (const statement of sql) await this.#send(connection, statement)
    if (isAlone && this.#open.has(connection)) this.#alone = connection
    if (isOwn) await this.#close(connection, step.pick)
  }

  /** All transactions end, one way or the other, and then the collection is the table. */
  async rest(pick: number): Promise<void> {
    for (const connection of [...this.#open].sort((one, other) => (pick % 2 ? one - other : other - one)))
      await this.#close(connection, pick + connection)
    if (!this.#isFollowed) await this.#twins.follow()
    this.#isFollowed = true
    await this.#twins.check()
  }

  /** The follower is away until the next quiet moment; the collection may be changed meanwhile. */
  async #leave(pick: number): Promise<void> {
    await this.#twins.leave()
    this.#isFollowed = false
    if (pick % 2) await this.#twins.tamper()
  }

  async #control(connection: number, kind: string): Promise<void> {
    if (this.#open.has(connection) === (kind === 'begin')) return
    await this.#twins.send(connection, kind.toUpperCase())
    if (kind === 'begin') this.#open.add(connection)
    else this.#open.delete(connection)
    if (kind !== 'begin' && this.#alone === connection) this.#alone = undefined
  }

  #close(connection: number, pick: number): Promise<void> {
    return this.#control(connection, pick % 8 === 7 ? 'rollback' : 'commit')
  }

  /** In a transaction a statement that fails is undone, and the next one goes on. */
  async #send(connection: number, statement: string): Promise<void> {
    if (!this.#open.has(connection) || /^(SAVEPOINT|ROLLBACK)/.test(statement)) {
      await this.#twins.send(connection, statement)
      if (/^ROLLBACK TO/.test(statement) && this.#open.has(connection)) await this.#mend(connection)
      return
    }
    await this.#twins.send(connection, 'SAVEPOINT each')
    const { state } = await this.#twins.send(connection, statement)
    if (state !== undefined) await this.#twins.send(connection, 'ROLLBACK TO each')
    await this.#twins.send(connection, 'RELEASE each')
  }

  /** A savepoint that is not there ends the transaction, or what is left of it. */
  async #mend(connection: number): Promise<void> {
    const { state } = await this.#twins.send(connection, 'SELECT')
    if (state !== undefined) await this.#control(connection, 'rollback')
  }
}

/** The kinds of a table, some of which come more often than others. */
const step = (makes: Readonly<Record<string, Make>>, ...more: readonly Kind[]) =>
  fc.record({
    kind: fc.constantFrom(...(Object.keys(makes) as Kind[]), ...more),
    connection: fc.nat(CONNECTIONS - 1),
    n: fc.nat(KEYS - 1),
    m: fc.nat(KEYS - 1),
    variant: fc.nat(1),
    pick: fc.nat(7),
  })

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: step(FREQUENT, 'begin', 'begin', 'commit') },
    { weight: 1, arbitrary: step(RARE) },
    { weight: 1, arbitrary: step(OF_PARTS, 'changePart', 'attach', 'newPart') },
  ),
  { minLength: 1, maxLength: 80, size: 'max' },
)

/** Plans for tables of these kinds. A failure names a seed: REAMS_TEST_SEED runs it again, and REAMS_TEST_SHRINK looks for a shorter one. */
export function describeRandomSql(runs: number, layouts: readonly Layout[]): void {
  const { REAMS_TEST_SEED, REAMS_TEST_SHRINK, REAMS_TEST_RUNS } = process.env
  const options = {
    numRuns: Number(REAMS_TEST_RUNS ?? runs),
    endOnFailure: REAMS_TEST_SHRINK === undefined,
    ...(REAMS_TEST_SEED === undefined ? {} : { seed: Number(REAMS_TEST_SEED) }),
  }
  describe('a followed table and random SQL', () => {
    const source = sharedSource()

    for (const layout of layouts)
      it(`a collection is the ${layout} table that it follows at every quiet moment, whatever SQL does to it`, async () => {
        const plan = fc.record({
          layout: fc.constant(layout),
          key: fc.constantFrom(...Object.keys(KEY_KINDS)),
          isDeferrable: fc.boolean(),
          queueRows: fc.constantFrom(1_000_000, 1_000_000, 5),
          steps,
        })
        const property = fc.asyncProperty(plan, (each: Plan) => runPlan(source(), each))
        await fc.assert(property, options)
      })
  })
}

async function runPlan(source: Source, plan: Plan): Promise<void> {
  const writer = new Writer(plan)
  const definition = [...writer.definition(), ...[0, 4, 8, 12, 16, 20].map((n) => writer.insert(n, 0, `'at first'`))]
  await using closing = new AsyncDisposableStack()
  const closer = { after: (close: () => Promise<void>) => closing.defer(close) }
  const twins = await FollowedTwins.follow(closer, source, definition, { queueRows: plan.queueRows })
  await twins.check()
  const run = new Run(twins, writer)
  for (const each of plan.steps) await run.take(each)
  await run.rest(0)
}
