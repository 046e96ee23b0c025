/** The pages whose commands tests run, with what each of them needs: files, free ports, a database. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { formatCount } from '../src/contract/message-text.ts'
import { lastPage } from '../src/contract/page.ts'
import { eventLines, putLines, storedLines } from './cli/items.ts'
import { workDirectory } from './cli/run-cli.ts'
import { fencesOf } from './markdown.ts'
import { runShellPage } from './shell-page.ts'
import { freePort } from './store/free-port.ts'
import { newSchema, runSql } from './store/postgres-engine.ts'
import { startPostgres } from './store/postgres-server.ts'

const ROOT = join(import.meta.dirname, '..')
const PATH = `${join(ROOT, 'bin')}:${process.env['PATH']}`

/** Where the commands of a page run. */
export interface Place {
  readonly page: string
  readonly directory: string
  /** For the commands. */
  readonly variables: Record<string, string>
  /** What the page says, and what it has to be here. */
  readonly replaced: [shown: string | RegExp, here: string][]
}

interface RunPage {
  /** Below `docs/`. */
  readonly path: string
  /** The ports on the page, the one that `reams serve` takes first. */
  readonly ports?: readonly number[]
  readonly prepare?: (t: TestContext, place: Place) => unknown
  /** Where the page begins with a command that never ends. */
  readonly from?: string
  readonly check?: (place: Place) => Promise<void>
}

const EXISTING_ROWS = 10_000_000
const FEW_ROWS = 12_000

export const SHORT_PAGES: readonly RunPage[] = [
  {
    path: 'how-to/back-up.md',
    prepare: (_t, { directory }) => putLines(directory, 'events', eventLines(1234)),
    check: async ({ directory }) => assert.equal(await storedLines(directory, 'events'), eventLines(1234)),
  },
  {
    path: 'how-to/csv.md',
    prepare: (_t, { page, directory }) => {
      // As Excel writes it.
      const text = blockOf(page, 'csv').replaceAll('\n', '\r\n')
      writeFileSync(join(directory, 'prices.csv'), `\ufeff${text}`)
    },
  },
]

/** Needs a `prepare` that puts the program at `bin/reams`. */
export const TUTORIAL: RunPage = { path: 'tutorial/first-collection.md', ports: [8080] }

export const OTHER_PAGES: readonly RunPage[] = [
  {
    ...TUTORIAL,
    prepare: (_t, { directory, variables }) => {
      for (const name of ['bin', 'src', 'package.json', 'node_modules'])
        symlinkSync(join(ROOT, name), join(directory, name))
      variables['PATH'] = process.env['PATH'] ?? ''
    },
  },
  {
    path: 'how-to/import-files.md',
    prepare: (_t, { page, directory }) => {
      writeFileSync(join(directory, 'venues.json'), blockOf(page, 'json'))
      writeFileSync(join(directory, 'towns.csv'), Buffer.from('id;name\n1;Orléans\n2;Nîmes\n', 'latin1'))
    },
  },
  { path: 'how-to/follow-changes.md', ports: [8080] },
  {
    path: 'how-to/mirror.md',
    ports: [8080, 8081, 8082],
    prepare: async (t, place) => {
      const { database } = await withDatabase(t, place)
      place.replaced.push(['postgres:///reams', `postgres:///${database}`])
    },
  },
  {
    path: 'how-to/nightly-replace.md',
    prepare: (_t, { directory, replaced }) => {
      for (const path of ['exports', 'reams']) mkdirSync(join(directory, path))
      replaced.push(['/srv/exports', join(directory, 'exports')])
      replaced.push(['/var/lib/reams', join(directory, 'reams')], ['/opt/reams', ROOT])
      for (const [name, text] of [
        ['events', eventLines(1234)],
        ['part-1', eventLines(600)],
        ['part-2', eventLines(400, 601)],
      ] as const)
        writeFileSync(join(directory, `exports/${name}.ndjson.gz`), gzipSync(text))
    },
  },
  {
    path: 'how-to/existing-tables.md',
    ports: [8080],
    // The first command waits until it is stopped.
    from: '\n## Ten',
    prepare: async (t, place) => {
      const { page, replaced, variables } = place
      assert.ok(page.split('\n## Ten')[0]?.includes('reams serve --from postgres:///shop --table events'))
      const { database, url } = await withDatabase(t, place)
      replaced.push(['shop\n', `${database}\n`], ['///shop', `///${database}`])
      replaced.push(['psql -q', `"${process.execPath}" "${join(ROOT, 'test/run-sql.ts')}"`])
      replaced.push([formatCount(EXISTING_ROWS), formatCount(FEW_ROWS)])
      replaced.push([formatCount(lastPage(EXISTING_ROWS)), formatCount(lastPage(FEW_ROWS))])
      // Three seconds are enough for a reader, but not on every machine that runs tests.
      replaced.push([
        'sleep 3\n',
        `until curl -s http://127.0.0.1:${variables['REAMS_PORT']}/events/42 | grep -q Opera; do sleep 0.1; done\n`,
      ])
      replaced.push(['page=20000', `page=${lastPage(FEW_ROWS)}`], ['{"item_count":10000', '{"item_count":12000'])
      replaced.push([`${EXISTING_ROWS}`, `${FEW_ROWS}`])
      await runSql(url, '', adapted(blockOf(page, 'sql'), place))
    },
  },
]

export function describeShellPages(pages: readonly RunPage[]): void {
  for (const page of pages)
    it(`docs/${page.path} shows commands that work, in their order, and what they print`, (t) => runPage(t, page))
}

/** Rejects when a command of the page fails, or prints something else than the page shows. */
export async function runPage(t: TestContext, { path, ports = [], prepare, from = '', check }: RunPage): Promise<void> {
  const page = readFileSync(join(ROOT, 'docs', path), 'utf8')
  const place: Place = { page, directory: workDirectory(t), variables: { PATH }, replaced: [] }
  for (const [index, port] of ports.entries()) {
    const here = String(await freePort())
    if (index === 0) place.variables['REAMS_PORT'] = here
    place.replaced.push([new RegExp(`\\b${port}\\b`, 'g'), here])
  }
  await prepare?.(t, place)
  const start = page.indexOf(from)
  assert.notEqual(start, -1, `there is no ${from}`)
  const { directory, variables } = place
  const adapt = (text: string) => adapted(text, place)
  await runShellPage(t, { markdown: page.slice(start), directory, variables, adapt })
  await check?.(place)
}

function adapted(text: string, { replaced }: Place): string {
  return replaced.reduce((changed, [shown, here]) => changed.replaceAll(shown, here), text)
}

function blockOf(page: string, wanted: string): string {
  const block = fencesOf(page).find(({ language }) => language === wanted)
  return block?.text ?? assert.fail(`there is no block of ${wanted}`)
}

/** Makes a database, to which the variables of PostgreSQL lead. */
async function withDatabase(t: TestContext, { variables }: Place): Promise<{ database: string; url: string }> {
  const server = await startPostgres()
  const database = newSchema()
  t.after(async () => {
    await runSql(server.url, '', `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    await server.stop()
  })
  await runSql(server.url, '', `CREATE DATABASE ${database}`)
  const { hostname, port, username, password } = new URL(server.url)
  Object.assign(variables, {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: decodeURIComponent(password),
  })
  return { database, url: Object.assign(new URL(server.url), { pathname: `/${database}` }).href }
}
