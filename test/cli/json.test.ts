import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { COMMANDS } from '../../src/cli/program.ts'
import { inlineCodeOf, tablesOf } from '../markdown.ts'
import { newSchema, runSql } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { putLines } from './items.ts'
import { addToken, push, TOKEN } from './push-servers.ts'
import {
  type CliResult,
  type RunningCli,
  runCli,
  runInside,
  type Scope,
  startCli,
  suiteScope,
  workDirectory,
} from './run-cli.ts'
import { serveInside } from './serve-inside.ts'

const PAGE = readFileSync(new URL('../../docs/reference/json.md', import.meta.url), 'utf8')

/** They print a text that is not about anything that was done. */
const WITHOUT_REPORT = ['completion']

/** What a case has: a store `reams.db` with the collection "events", of two items, and the file of these. */
interface Place {
  readonly scope: Scope
  readonly directory: string
  readonly run: (...words: string[]) => Promise<CliResult>
}

/** Runs the command with `--json`, and returns its result. */
type Case = (place: Place) => Promise<CliResult>

/** One after the other, in one place. */
const CASES: Readonly<Record<string, Case>> = {
  serve: ({ scope, directory }) => firstLine(startCli(scope, ['serve', '--port', '0', '--json'], { in: directory })),
  import: ({ run }) => run('import', 'more', 'events.ndjson', '--json'),
  mirror: async ({ scope, directory }) => {
    const { url } = await serveInside(scope, directory)
    const words = ['mirror', `${url}/events`, '--once', '--store', 'mirror.db', '--json']
    // As a process: it logs past `runInside`.
    return runCli(words, { in: directory })
  },
  copy: ({ run }) => run('copy', '--from', 'reams.db', '--to', 'copy.db', '--json'),
  push: async ({ scope, directory }) => {
    const { store, url } = await serveInside(scope, directory)
    await addToken(store, TOKEN, ['admin'])
    writeFileSync(join(directory, 'new.csv'), 'id\n3\n')
    return push(directory, `${url}/events`, 'new.csv', '--json')
  },
  set: ({ run }) => run('set', 'more', '--private', '--json'),
  forget: ({ run }) => run('forget', 'events', '--json'),
  drop: ({ run }) => run('drop', 'more', '--yes', '--json'),
  backup: ({ run }) => run('backup', 'monday.db', '--json'),
  restore: ({ run }) => run('restore', 'reams.db', '--store', 'new.db', '--json'),
  'token create': ({ run }) => run('token', 'create', '--name', 'ci', '--scope', 'read:*', '--json'),
  'token list': ({ run }) => run('token', 'list', '--json'),
  'token revoke': ({ run }) => run('token', 'revoke', 'ci', '--json'),
  collections: ({ run }) => run('collections', '--json'),
  export: ({ run }) => run('export', 'events', '-o', 'out.csv', '--json'),
  verify: ({ run }) => run('verify', '--json'),
  pull: async ({ scope, directory, run }) => {
    const { url } = await serveInside(scope, directory)
    return run('pull', `${url}/events`, '-o', 'pulled.csv', '--json')
  },
  check: async ({ scope, directory, run }) => {
    const { url } = await serveInside(scope, directory)
    return run('check', `${url}/events`, '--json')
  },
}

/** The same of commands that need a table in PostgreSQL; there is one with two rows, named `table`. */
const TABLE_CASES: Readonly<Record<string, (place: Place, table: string, url: string) => Promise<CliResult>>> = {
  follow: ({ scope, directory }, table, url) =>
    firstLine(
      startCli(scope, ['follow', '--from', url, '--table', table, '--name', 'followed', '--install', '--json'], {
        in: directory,
      }),
    ),
  unfollow: ({ run }, table, url) => run('unfollow', '--from', url, '--table', table, '--json'),
}

/** Its stdout once it is ready; it is stopped then. */
async function firstLine(cli: RunningCli): Promise<CliResult> {
  await cli.prints('\n')
  return cli.stop()
}

async function place(scope: Scope): Promise<Place> {
  const directory = workDirectory(scope)
  const lines = '{"id":1}\n{"id":2}\n'
  writeFileSync(join(directory, 'events.ndjson'), lines)
  await putLines(directory, 'events', lines, { keyField: 'id' })
  return { scope, directory, run: (...words) => runInside(words, { in: directory }) }
}

/** The fields that the page names for a command. */
function documentedFields(command: string): string[] {
  const [, section = ''] = PAGE.split(`\n## reams ${command}\n`)
  const [table = []] = tablesOf(section.split('\n## ')[0] ?? '')
  return table.flatMap(([field = '']) => inlineCodeOf(field))
}

/** `a`, and `list[].b` for the fields of objects in a list if the page names these one by one. */
function fieldsOf(value: unknown, documented: readonly string[], prefix = ''): string[] {
  if (Array.isArray(value)) return fieldsOf(value[0], documented, `${prefix}[].`)
  assert.ok(typeof value === 'object' && value !== null, `${prefix} has no element`)
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = prefix + name
    return documented.some((each) => each.startsWith(`${path}[].`)) ? fieldsOf(inner, documented, path) : [path]
  })
}

function assertReport(command: string, { status, stdout, stderr }: CliResult): void {
  assert.equal(status, 0, stderr)
  const facts: unknown = JSON.parse(stdout)
  if (!Array.isArray(facts)) assert.equal(stdout, `${JSON.stringify(facts)}\n`, 'one object on one line')
  const documented = documentedFields(command)
  assert.deepEqual(fieldsOf(facts, documented), documented)
  for (const [name, value] of Object.entries(facts ?? {}))
    if (/^(items|pages|bytes|port|changes|.*_ms)$/.test(name)) assert.equal(typeof value, 'number', name)
}

describe('--json', () => {
  it('is an option of every command that reports something, and each is tried here', () => {
    const having = COMMANDS.filter(({ settings }) => settings.includes('json')).map(({ name }) => name)
    const reporting = COMMANDS.map(({ name }) => name).filter((name) => !WITHOUT_REPORT.includes(name))
    assert.deepEqual(having, reporting)
    assert.deepEqual([...Object.keys(CASES), ...Object.keys(TABLE_CASES)].sort(), [...reporting].sort())
  })

  describe('prints one object with the documented fields, and no sentence', () => {
    const scope = suiteScope()
    let shared: Place
    before(async () => {
      shared = await place(scope)
    })
    for (const [command, run] of Object.entries(CASES))
      it(`of ${command}`, async () => assertReport(command, await run(shared)))
  })

  it('prints the object on stderr where the items go to stdout', async (t) => {
    const { run, directory } = await place(t)
    for (const words of [[], ['-o', '/dev/stdout']]) {
      const { stdout, stderr } = await run('export', 'events', ...words, '--json')
      assert.equal(stdout, readFileSync(join(directory, 'events.ndjson'), 'utf8'))
      const { duration_ms: durationMs, ...facts } = JSON.parse(stderr)
      assert.ok(durationMs >= 0)
      assert.deepEqual(facts, { collection: 'events', file: null, format: 'ndjson', items: 2, unused_columns: [] })
    }
  })

  it('of a mirror without --once is printed when it has caught up, and only then', async (t) => {
    const { directory } = await place(t)
    const { url } = await serveInside(t, directory)
    const words = ['mirror', `${url}/events`, '--store', 'copy.db', '--json']
    const { status, stdout } = await firstLine(startCli(t, words, { in: directory }))
    assert.equal(status, 0)
    const { items, items_copied: copied } = JSON.parse(stdout)
    assert.deepEqual([items, copied], [2, 2])
    const exported = await runInside(['export', 'events', '--store', 'copy.db'], { in: directory })
    assert.equal(exported.stdout, readFileSync(join(directory, 'events.ndjson'), 'utf8'))
  })

  it('has the numbers of the sentence', async (t) => {
    const { run, directory } = await place(t)
    writeFileSync(join(directory, 'some.csv'), 'id\n2\n3\n')
    const words = ['import', 'events', 'some.csv', '--types', '--on-conflict', 'replace', '--json']
    const { duration_ms: _, ...facts } = JSON.parse((await run(...words)).stdout)
    const counts = { imported: 1, replaced: 1, skipped: 0, items: 3, pages: 1 }
    const note = 'Types: number: id; all others text.'
    assert.deepEqual(facts, { collection: 'events', source: 'some.csv', ...counts, note })
    const copied = await run('copy', '--from', 'reams.db', '--to', 'copy.db', '--json')
    assert.deepEqual([JSON.parse(copied.stdout).items, copied.stderr], [3, ''])
    const dropped = await run('drop', 'events', '--yes', '--json')
    assert.deepEqual(JSON.parse(dropped.stdout), { collection: 'events', items: 3 })
  })

  it('leaves an error a sentence on stderr, and prints no object', async (t) => {
    const { run } = await place(t)
    const { status, stdout, stderr } = await run('drop', 'evnets', '--json')
    assert.deepEqual([status, stdout, stderr], [2, '', 'reams: There is no collection "evnets". There is events.\n'])
  })

  it('escapes what a terminal would act upon', async (t) => {
    const { run, directory } = await place(t)
    writeFileSync(join(directory, 'x\u009b.ndjson'), '{"id":3}\n')
    const { stdout } = await run('import', 'events', 'x\u009b.ndjson', '--json')
    assert.ok(stdout.includes('"source":"x\\u009b.ndjson"'), stdout)
  })

  it('of check prints the report on one line, and with --explain the rule', async (t) => {
    const { run } = await place(t)
    const { status, stdout } = await run('check', 'http://127.0.0.1:1/events', '--json')
    assert.deepEqual([status, JSON.parse(stdout).verdict, stdout.split('\n').length], [3, 'undecided', 2])
    const rule = JSON.parse((await run('check', '--explain', 'c7', '--json')).stdout)
    assert.deepEqual(Object.keys(rule), ['id', 'title', 'why', 'affects', 'right', 'wrong'])
  })
})

describePostgres('--json, with a table of PostgreSQL,', (startPostgres, isCitus) => {
  if (isCitus) return
  let server: PostgresServer
  const schema = newSchema()
  const table = `${schema}.events`
  before(async () => {
    server = await startPostgres()
    const statements = `CREATE SCHEMA ${schema}; CREATE TABLE ${table} (id int PRIMARY KEY); INSERT INTO ${table} VALUES (1), (2)`
    await runSql(server.url, '', statements)
  })
  after(async () => {
    await runSql(server.url, '', `DROP SCHEMA ${schema} CASCADE; DROP SCHEMA IF EXISTS reams_follow CASCADE`)
    await server.stop()
  })

  it('of follow and unfollow prints one object with the documented fields, and no sentence', async (t) => {
    const there = await place(t)
    for (const [command, run] of Object.entries(TABLE_CASES)) assertReport(command, await run(there, table, server.url))
  })

  it('of follow --dry-run has the SQL', async (t) => {
    const { run } = await place(t)
    const words = ['follow', '--from', server.url, '--table', table, '--dry-run']
    const { collections } = JSON.parse((await run(...words, '--json')).stdout)
    assert.equal(`${collections[0].sql}\n`, (await run(...words)).stdout)
  })
})
