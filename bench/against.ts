/**
 * This checkout against another commit: imports, pages, pulls, appends, writes to a followed table and the list of collections, in pairs of
 * fresh processes that take turns.
 * Run as `node bench/against.ts COMMIT`. The ratio of each pair says more than two rates: both meet the same machine.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { TemporaryDirectory } from '../src/cli/temporary-directory.ts'
import { PAGE_SIZE } from '../src/contract/page.ts'
import { openPostgresStore } from '../src/store/postgres/open.ts'
import { newSchema, runSql, withParameter } from '../test/store/postgres-engine.ts'
import { nodeProgram, type Program, runProgram, startServer, WITHOUT_CACHE } from './child-process.ts'
import { writeEvents } from './data.ts'
import { median } from './measure.ts'
import { SOURCE_WRITERS } from './postgres/pgbench.ts'
import { LOAD_TOOL, type ReadPlan, readRate } from './read-load.ts'
import { requestsASecond, runLoad } from './running-load.ts'
import { COLLECTION, WRITERS } from './workspace.ts'

const USAGE = `Usage: node bench/against.ts COMMIT [options]

  --pairs N       pairs of fresh processes for each figure (9)
  --items N       items of an import (300,000)
  --only TEXT     only the figures with this text in their names
  --postgres URL  a server to use instead of the one that npm brings, such as one that compiles queries
`

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const APPENDS = 6_000
const HOT_SECONDS = 3
const WRITE_SECONDS = 10
const FOLLOWED_ROWS = 100_000
const LISTED_COLLECTIONS = 500
/** One item in so many is changed. */
const CHANGED_SHARE = 100

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '9' },
    items: { type: 'string', default: '300000' },
    only: { type: 'string', default: '' },
    postgres: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const [commit] = positionals
if (values.help || commit === undefined) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

using directory = new TemporaryDirectory()
const { signal } = new AbortController()
const path = (name: string): string => join(directory.path, name)
const PLACE = { isTryOut: false, path, signal }
const before = checkOut(commit, path('before'))
const now: Program = [join(ROOT, 'bin/reams')]
const file = path('events.ndjson')
await writeEvents(file, Number(values.items))
await using resources = new AsyncDisposableStack()
let database: Promise<string> | undefined
let listedStore: Promise<string> | undefined

/** What each figure measures: more is better. */
const FIGURES: Readonly<Record<string, (program: Program) => Promise<number>>> = {
  'import with a key': (program) => importRate(program, ['--key', 'id']),
  'import without a key': (program) => importRate(program, []),
  'import of JSON': (program) => importRate(program, [], jsonFile()),
  'import of CSV': (program) => importRate(program, [], csvFile()),
  'import of CSV with --types': (program) => importRate(program, ['--types'], csvFile()),
  'hot page, gzip': (program) => hotRate(program, 'gzip'),
  'hot page, plain': (program) => hotRate(program, 'identity'),
  'cold pages': (program) => coldRate(program),
  'cold pages with holes': (program) => coldRate(program, { change: deleteSome }),
  'cold pages of a snapshot': (program) => coldRate(program, { change: replaceSome, isSnapshot: true }),
  pull: (program) => pullRate(program),
  [`appends, ${WRITERS} connections`]: (program) => appendRate(program),
  'import into PostgreSQL': (program) => importRate(program, ['--key', 'id'], file, 'PostgreSQL'),
  'cold pages from PostgreSQL': (program) => coldRate(program, { engine: 'PostgreSQL' }),
  [`appends to PostgreSQL, ${WRITERS} connections`]: (program) => appendRate(program, 'PostgreSQL'),
  [`writes to a followed table, ${SOURCE_WRITERS} connections`]: (program) => followedRate(program),
  [`list of ${LISTED_COLLECTIONS} collections in PostgreSQL`]: (program) => listRate(program),
}

console.log(`${values.pairs} pairs against ${commit}, ${values.items} items, ${LOAD_TOOL}\n`)
for (const [name, measure] of Object.entries(FIGURES).filter(([name]) => name.includes(values.only))) {
  const ratios: number[] = []
  for (let pair = 0; pair < Number(values.pairs); pair++) {
    const rates = new Map<Program, number>()
    for (const side of pair % 2 === 0 ? [before, now] : [now, before]) rates.set(side, await measure(side))
    ratios.push((rates.get(now) ?? 0) / (rates.get(before) ?? 1))
  }
  const sorted = ratios.toSorted((a, b) => a - b).map((ratio) => ratio.toFixed(2))
  console.log(`${name}: median ${median(ratios).toFixed(3)} (${sorted.join(' ')})`)
}

/** The program of another commit, in a clone that uses the packages of this one. */
function checkOut(revision: string, target: string): Program {
  const git = (...words: string[]) => execFileSync('git', ['-C', ROOT, ...words], { encoding: 'utf8' })
  const lock = (at: string) => git('show', `${at}:package-lock.json`)
  if (lock(revision) !== lock('HEAD'))
    console.error(`${revision} has another package-lock.json: it runs with the packages of this checkout.`)
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, target])
  execFileSync('git', ['-C', target, 'checkout', '--quiet', git('rev-parse', revision).trim()])
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'))
  const built = join(ROOT, 'src/explorer/built')
  if (existsSync(built)) symlinkSync(built, join(target, 'src/explorer/built'))
  return [join(target, 'bin/reams')]
}

type Engine = 'SQLite' | 'PostgreSQL'

/** A new store: the path of its file, or the URL of a schema. It is removed at the end. */
async function newStore(engine: Engine = 'SQLite') {
  if (engine === 'SQLite') {
    const directory = new TemporaryDirectory()
    return {
      location: join(directory.path, 'reams.db'),
      [Symbol.asyncDispose]: async () => directory[Symbol.dispose](),
    }
  }
  database ??= startPostgres()
  const [server, schema] = [await database, newSchema()]
  return {
    location: withParameter(server, 'schema', schema),
    [Symbol.asyncDispose]: async () => void (await runSql(server, '', `DROP SCHEMA IF EXISTS ${schema} CASCADE`)),
  }
}

/** Imports a second, from the start of the process to its end. */
async function importRate(
  program: Program,
  options: readonly string[],
  input = file,
  engine?: Engine,
): Promise<number> {
  await using store = await newStore(engine)
  const words = ['import', COLLECTION, input, '--store', store.location, ...options]
  return 1000 / (await runProgram(program, words, signal)).wallMs
}

async function hotRate(program: Program, encoding: string): Promise<number> {
  await using store = await newStore()
  await runProgram(program, ['import', COLLECTION, file, '--store', store.location], signal)
  await using server = await startServer(program, ['serve', '--store', store.location, '--port', '0'], signal)
  return await warmRate({ url: `${server.url}/${COLLECTION}?page=1`, headers: { 'Accept-Encoding': encoding } })
}

async function warmRate(plan: ReadPlan): Promise<number> {
  await readRate(PLACE, plan)
  return (await readRate(PLACE, { ...plan, seconds: HOT_SECONDS })).requestsASecond
}

interface ColdOptions {
  readonly engine?: Engine
  /** Changes items before the pages are read. */
  readonly change?: (url: string, token: string) => Promise<void>
  /** Reads the pages of the state before the change. */
  readonly isSnapshot?: boolean
}

/** Pages at random, none of which is kept in memory. */
async function coldRate(program: Program, { engine, change, isSnapshot = false }: ColdOptions = {}): Promise<number> {
  await using store = await newStore(engine)
  const token = await prepare(program, store.location)
  const words = ['serve', '--store', store.location, '--port', '0', ...WITHOUT_CACHE]
  await using server = await startServer(program, words, signal)
  const live = `${server.url}/${COLLECTION}`
  const { _links } = await (await fetch(live)).json()
  await change?.(live, token)
  const url = isSnapshot ? _links.snapshot.href : live
  const pages =
    Math.floor(Number(values.items) / PAGE_SIZE) - Math.ceil(Number(values.items) / CHANGED_SHARE / PAGE_SIZE)
  return await warmRate({ url, headers: { 'Accept-Encoding': 'gzip' }, pages })
}

/** Fills a store, and returns a token that may write. */
async function prepare(program: Program, location: string, options = ['--key', 'id']): Promise<string> {
  await runProgram(program, ['import', COLLECTION, file, '--store', location, ...options], signal)
  const words = ['token', 'create', '--name', 'bench', '--scope', `write:${COLLECTION}`, '--store', location]
  return /reams_\S+/.exec((await runProgram(program, words, signal)).stdout)?.[0] ?? ''
}

function deleteSome(url: string, token: string): Promise<void> {
  return changeSome(url, token, (line) => ({ op: 'delete', key: String(JSON.parse(line).id) }))
}

function replaceSome(url: string, token: string): Promise<void> {
  return changeSome(url, token, (line) => ({ op: 'put', item: { ...JSON.parse(line), title: 'Another title' } }))
}

async function changeSome(url: string, token: string, changeOf: (line: string) => object): Promise<void> {
  const changes = lines().filter((_, index) => index % CHANGED_SHARE === 0)
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' }
  const body = changes.map((line) => `${JSON.stringify(changeOf(line))}\n`).join('')
  const { status } = await fetch(url, { method: 'PATCH', headers, body })
  if (status !== 200) throw new Error(`PATCH ${url}: ${status}`)
}

async function pullRate(program: Program): Promise<number> {
  await using store = await newStore()
  await prepare(program, store.location)
  await using server = await startServer(program, ['serve', '--store', store.location, '--port', '0'], signal)
  return 1000 / (await runProgram(program, ['pull', `${server.url}/${COLLECTION}`, '-o', '/dev/null'], signal)).wallMs
}

async function appendRate(program: Program, engine?: Engine): Promise<number> {
  await using store = await newStore(engine)
  const token = await prepare(program, store.location, [])
  await using server = await startServer(program, ['serve', '--store', store.location, '--port', '0'], signal)
  const plan = { kind: 'append', file, token, url: `${server.url}/${COLLECTION}`, connections: WRITERS } as const
  return requestsASecond(await runLoad({ ...plan, warmUp: APPENDS, requests: APPENDS }, signal))
}

/** The same items as one JSON array. */
function jsonFile(): string {
  const target = path('events.json')
  if (!existsSync(target)) writeFileSync(target, `[${lines().join(',\n')}]\n`)
  return target
}

/** The same items as CSV. */
function csvFile(): string {
  const target = path('events.csv')
  if (existsSync(target)) return target
  const rows = lines().map((line) => JSON.parse(line) as Record<string, unknown>)
  const text = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((cells) => cells.join(','))
  writeFileSync(target, `${text.join('\n')}\n`)
  return target
}

function lines(): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n')
}

/** Commits a second of writers of single rows, with the triggers that `reams follow` installs. No follower runs. */
async function followedRate(program: Program): Promise<number> {
  database ??= startPostgres()
  const url = await database
  const execute = (...words: string[]) => runProgram(['psql'], ['-qX', '-v', 'ON_ERROR_STOP=1', ...words, url], signal)
  const make = `SET client_min_messages = warning; DROP SCHEMA IF EXISTS followed CASCADE; DROP TABLE IF EXISTS event;
    CREATE TABLE event (id bigint PRIMARY KEY, title text, seats_left int);
    INSERT INTO event SELECT n, md5(n::text), n % 500 FROM generate_series(1, ${FOLLOWED_ROWS}) n`
  await execute('-c', make, '-c', 'VACUUM ANALYZE event')
  const source = ['--from', url, '--table', 'event', '--schema', 'followed', '--dry-run']
  const { stdout } = await runProgram(program, ['follow', ...source], signal)
  const [install, update] = [path('install.sql'), path('update.pgbench')]
  writeFileSync(install, stdout)
  writeFileSync(
    update,
    `\\set id random(1, ${FOLLOWED_ROWS})\nUPDATE event SET seats_left = seats_left + 1 WHERE id = :id;\n`,
  )
  await execute('-f', install)
  const words = ['--no-vacuum', '--protocol', 'simple', '--client', String(SOURCE_WRITERS), '--jobs', '2']
  const run = await runProgram(['pgbench'], [...words, '--time', String(WRITE_SECONDS), '--file', update, url], signal)
  return Number(/^tps = ([\d.]+)/m.exec(run.stdout)?.[1])
}

/** Requests a second for `/`. Both programs serve the same store. */
async function listRate(program: Program): Promise<number> {
  database ??= startPostgres()
  listedStore ??= createCollections(await database)
  await using server = await startServer(program, ['serve', '--store', await listedStore, '--port', '0'], signal)
  return await warmRate({ url: `${server.url}/`, headers: { Accept: 'application/json' } })
}

async function createCollections(server: string): Promise<string> {
  const schema = newSchema()
  resources.defer(async () => void (await runSql(server, '', `DROP SCHEMA ${schema} CASCADE`)))
  const url = withParameter(server, 'schema', schema)
  const store = await openPostgresStore({ url, create: true })
  for (let number = 0; number < LISTED_COLLECTIONS; number++) await store.create(`collection-${number}`)
  await store.close()
  return url
}

/** Its URL goes without the password: that is in PGPASSWORD for all who connect. */
async function startPostgres(): Promise<string> {
  if (values.postgres !== undefined) return values.postgres
  const server = await startServer(nodeProgram('./postgres/server.ts'), [], signal, /postgres:\S+(?=\s)/)
  resources.use(server)
  const url = new URL(server.url)
  process.env['PGPASSWORD'] = decodeURIComponent(url.password)
  url.password = ''
  return url.href
}
