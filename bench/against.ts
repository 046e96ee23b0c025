/**
 * This checkout against another commit: imports, hot page, appends, writes to a followed table and the list of collections, in pairs of fresh
 * processes that take turns.
 * Run as `node bench/against.ts COMMIT`. The ratio of each pair says more than two rates: both meet the same machine.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { TemporaryDirectory } from '../src/cli/temporary-directory.ts'
import { openPostgresStore } from '../src/store/postgres/open.ts'
import { newSchema, runSql, withParameter } from '../test/store/postgres-engine.ts'
import { nodeProgram, type Program, runProgram, startServer } from './child-process.ts'
import { writeEvents } from './data.ts'
import { median } from './measure.ts'
import { SOURCE_WRITERS } from './postgres/pgbench.ts'
import { LOAD_TOOL, readRate } from './read-load.ts'
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
  [`appends, ${WRITERS} connections`]: (program) => appendRate(program),
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

/** Imports a second, from the start of the process to its end. */
async function importRate(program: Program, options: readonly string[], input = file): Promise<number> {
  using store = new TemporaryDirectory()
  const words = ['import', COLLECTION, input, '--store', storeIn(store), ...options]
  return 1000 / (await runProgram(program, words, signal)).wallMs
}

async function hotRate(program: Program, encoding: string): Promise<number> {
  using store = new TemporaryDirectory()
  await runProgram(program, ['import', COLLECTION, file, '--store', storeIn(store)], signal)
  await using server = await startServer(program, ['serve', '--store', storeIn(store), '--port', '0'], signal)
  const plan = { url: `${server.url}/${COLLECTION}?page=1`, headers: { 'Accept-Encoding': encoding } }
  const place = { isTryOut: false, path, signal }
  await readRate(place, plan)
  return (await readRate(place, { ...plan, seconds: HOT_SECONDS })).requestsASecond
}

async function appendRate(program: Program): Promise<number> {
  using store = new TemporaryDirectory()
  await runProgram(program, ['import', COLLECTION, file, '--store', storeIn(store)], signal)
  const words = ['token', 'create', '--name', 'bench', '--scope', `write:${COLLECTION}`, '--store', storeIn(store)]
  const token = /reams_\S+/.exec((await runProgram(program, words, signal)).stdout)?.[0] ?? ''
  await using server = await startServer(program, ['serve', '--store', storeIn(store), '--port', '0'], signal)
  const plan = { kind: 'append', file, token, url: `${server.url}/${COLLECTION}`, connections: WRITERS } as const
  return requestsASecond(await runLoad({ ...plan, warmUp: APPENDS, requests: APPENDS }, signal))
}

function storeIn({ path: parent }: TemporaryDirectory): string {
  return join(parent, 'reams.db')
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
  const place = { isTryOut: false, path, signal }
  const plan = { url: `${server.url}/`, headers: { Accept: 'application/json' } }
  await readRate(place, plan)
  return (await readRate(place, { ...plan, seconds: HOT_SECONDS })).requestsASecond
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
