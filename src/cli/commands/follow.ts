/** `reams follow --from DATABASE --table TABLE`: keeps a collection true to a table of PostgreSQL, until a signal comes. */

import type { FollowEvent, FollowOptions } from '../../follow/follower.ts'
import type { Store } from '../../store/store.ts'
import { confirm } from '../confirm.ts'
import type { DataLocation } from '../data-location.ts'
import { describeFailure, Failure } from '../failure.ts'
import { Interrupted, Interruption } from '../interruption.ts'
import { existingHead, withStore } from '../open-store.ts'
import { printError, report as printReport } from '../output.ts'
import { durationMs } from '../setting-kind.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'
import { namedTables } from '../table-input.ts'
import { FollowReport } from './follow/report.ts'

/** Follow supports PostgreSQL only; import also reads other databases. */
export const FOLLOWED_DATABASE = 'the database of the table: postgres://…'

export const FOLLOW: CliCommand = {
  name: 'follow',
  group: 'Load and change',
  usage: '--from DATABASE --table TABLE [options]',
  summary: 'keep a collection true to a table of PostgreSQL',
  description: `Loads a table of PostgreSQL into a collection, and then follows it until Ctrl-C:
what is inserted there is appended, what is updated is replaced in its place,
what is deleted is removed. Each state of the collection is the table as it was
at one moment. For this it installs triggers and a queue there; it shows them,
and asks first. Creates the store and the collection if missing.
PostgreSQL 15 and later can be followed; "reams import --replace" reads all of
a table, of MySQL, MariaDB and SQLite too, as often as you run it.`,
  operands: [],
  descriptions: { tableFrom: FOLLOWED_DATABASE },
  settings: [
    'store',
    'tableFrom',
    'table',
    'key',
    'itemBytes',
    'replace',
    'collectionName',
    'every',
    'install',
    'dryRun',
    'compare',
    'compareEvery',
    'schema',
    'queueRows',
    'logLevel',
    'json',
  ],
  examples: [
    { line: 'reams follow --from postgres:///shop --table events', purpose: 'follow a table' },
    { line: 'reams follow --from postgres:///shop --table events --dry-run', purpose: 'see the SQL' },
    { line: 'reams unfollow --from postgres:///shop --table events', purpose: 'remove it there' },
  ],
  run: runFollow,
}

async function runFollow(_operands: readonly string[], settings: SettingValues): Promise<number> {
  const database = followedDatabase(settings)
  const tables = tablesIn(settings)
  using interruption = new Interruption()
  const { signal } = interruption
  if (settings.get('dryRun')) return await showStatements(database, tables, settings, signal)
  await using report = await FollowReport.open(settings)
  let asked: Promise<unknown> = Promise.resolve()
  // One question at a time.
  const askInTurn = (ask: () => Promise<void>): Promise<void> => {
    const answered = asked.then(ask)
    asked = answered.catch(() => {})
    return answered
  }
  return await withStore(settings.get('store'), { create: true }, async (store) => {
    const waiting = new Set(tables)
    const reportReady = async () => {
      const collections: object[] = []
      for (const { table, name } of tables)
        collections.push({ collection: name, table, items: (await existingHead(store, name)).live })
      await printReport(settings, { collections }, undefined)
    }
    const ends = tables.map(async (followed) => {
      const { table, name } = followed
      const onEvent = (event: FollowEvent) => {
        report.add(name, table, event)
        // A follower runs until a signal, so it reports once it is ready.
        const isReady = event.kind === 'current' && waiting.delete(followed) && waiting.size === 0
        if (isReady && settings.get('json')) void reportReady()
      }
      const plain = followOptions(database, table, name, settings, onEvent)
      const options = { ...plain, approve: (found: readonly string[]) => askInTurn(() => plain.approve(found)) }
      await followOne(store, options, settings, signal).catch((error: unknown) => {
        // The others go on, perhaps for weeks: this must be told before they end.
        if (tables.length > 1 && !(error instanceof Interrupted)) report.addEnd(name, describeFailure(error).message)
        throw error
      })
    })
    const failures = (await Promise.allSettled(ends)).flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    const [failure, ...others] = failures.filter((error) => !(error instanceof Interrupted))
    for (const other of others) printError(`reams: ${describeFailure(other).message}`)
    if (failure !== undefined) throw failure
    return 0
  })
}

async function followOne(
  store: Store,
  options: FollowOptions,
  settings: SettingValues,
  signal: AbortSignal,
): Promise<void> {
  const { FollowedTable, OwnerNeeded } = await import('../../follow/followed-table.ts')
  const { Follower } = await import('../../follow/follower.ts')
  const table = await FollowedTable.open({ ...options, signal })
  try {
    await new Follower(store, table, options, signal).run()
  } catch (error) {
    // On stdout, so that they can go to a file: a message is one line.
    if (error instanceof OwnerNeeded) await printScripts([{ ...options, statements: error.statements }], settings)
    throw error
  } finally {
    table.hangUp()
  }
}

async function showStatements(
  database: DataLocation,
  tables: readonly FollowedName[],
  settings: SettingValues,
  signal: AbortSignal,
): Promise<number> {
  const { FollowedTable } = await import('../../follow/followed-table.ts')
  const scripts: TableScript[] = []
  for (const { table, name } of tables) {
    const options = followOptions(database, table, name, settings)
    const followed = await FollowedTable.open({ ...options, signal })
    // It is another one each time.
    followed.id = 'ID'
    scripts.push({ ...options, statements: await followed.missingStatements() })
    followed.hangUp()
  }
  await printScripts(scripts, settings)
  return 0
}

type TableScript = Pick<FollowOptions, 'collection' | 'table'> & { readonly statements: readonly string[] }

async function printScripts(scripts: readonly TableScript[], settings: SettingValues): Promise<void> {
  const sqls = scripts.map(({ statements }) => scriptOf(statements))
  const collections = scripts.map(({ collection, table }, index) => ({ collection, table, sql: sqls[index] }))
  await printReport(settings, { collections }, sqls.join('\n'))
}

/** One transaction, in which no function or operator is taken from a schema that others can write to. */
function scriptOf(statements: readonly string[]): string {
  const script = ['BEGIN', 'SET LOCAL search_path = pg_catalog, pg_temp', ...statements, 'COMMIT']
  return script.map((statement) => `${statement};\n`).join('\n')
}

function followOptions(
  database: DataLocation,
  table: string,
  name: string,
  settings: SettingValues,
  onEvent: (event: FollowEvent) => void = () => {},
): FollowOptions {
  return {
    url: database.reveal(),
    table,
    keyField: settings.get('key'),
    schema: settings.get('schema'),
    collection: name,
    queueRows: settings.get('queueRows'),
    everyMs: durationMs(settings.get('every')),
    compareMs: durationMs(settings.get('compareEvery')),
    isToCompare: settings.get('compare'),
    mayReplace: settings.get('replace'),
    itemBytes: settings.get('itemBytes'),
    approve: (statements) => approve(statements, table, settings),
    onEvent,
  }
}

async function approve(statements: readonly string[], table: string, settings: SettingValues): Promise<void> {
  if (settings.get('install')) return
  if (!process.stdin.isTTY)
    throw new Failure(
      2,
      `To follow ${table}, triggers and a queue are to be installed in its database. --dry-run shows them; --install installs them.`,
    )
  process.stderr.write(`${scriptOf(statements)}\n`)
  await confirm({
    question: `Run this in the database of ${table}?`,
    unseen: 'The question whether to install this could not be seen. Add --install to install it.',
    refused: 'Nothing was installed.',
  })
}

/** Only PostgreSQL can be followed. */
export function followedDatabase(settings: SettingValues): DataLocation {
  const database = settings.get('tableFrom')
  if (database === undefined) throw new Failure(2, 'Name a database with --from.')
  if (database.engine !== 'postgres')
    throw new Failure(
      2,
      `Only tables of PostgreSQL can be followed. reams import NAME --from ${database.label} --table … --replace reads all of a table, as often as you run it.`,
    )
  return database
}

interface FollowedName {
  readonly table: string
  readonly name: string
}

function tablesIn(settings: SettingValues): readonly FollowedName[] {
  const tables = settings.get('table') ?? []
  const given = settings.get('collectionName')
  if (tables.length === 0) throw new Failure(2, 'Name a table with --table.')
  if (tables.length > 1 && given !== undefined)
    throw new Failure(2, '--name is for a single table: leave it out, or follow the tables one by one.')
  const [only = ''] = tables
  if (given !== undefined) return [{ table: only, name: given }]
  return namedTables(tables.map((table) => ({ table }))).map(({ choice, name }) => ({
    table: choice.table ?? '',
    name,
  }))
}
