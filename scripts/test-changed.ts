/**
 * Runs the tests that a change can affect, the most likely ones first, for a minute: `npm run test:changed`. The change is what
 * differs from the last commit, or from the one that is named: `npm run test:changed -- main --seconds 300`. With --list it only names them.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../test/shared-postgres.ts'
import { reach, readGraph, testsAffectedBy } from './import-graph.ts'
import { bySimilarity } from './similarity.ts'

const ROOT = join(import.meta.dirname, '..')
const AT_ONCE = 3
/** Of each test file that fails. */
const SHOWN_LINES = 15
/** What so many files use says nothing about any of them. */
const SHARED = 8
/** With so many failures it is known that the change is wrong. */
const ENOUGH = 3
const POSTGRES = 'test/store/postgres-server.ts'

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, list: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const mostMs = Number(values.seconds) * 1_000
if (!(mostMs > 0)) stop(`--seconds ${values.seconds} is not a number of seconds.`)
const [since = 'HEAD'] = positionals
const changed = [...gitList('diff', '--name-only', '-z', since), ...gitList('ls-files', '-oz', '--exclude-standard')]
const graph = readGraph()
/** By how many files each file is named. */
const users = new Map<string, number>()
for (const named of graph.values()) for (const file of named) users.set(file, (users.get(file) ?? 0) + 1)
const tests = inOrder(testsAffectedBy(changed, graph))
if (tests.length === 0) {
  console.log(`No test reaches what differs from ${since}: ${changed.join(', ') || 'nothing does'}.`)
  process.exit()
}

if (values.list) {
  console.log(tests.join('\n'))
  process.exit()
}

const needsPostgres = (test: string): boolean => reach(test, graph).has(POSTGRES)
const startedAt = performance.now()
const failed: string[] = []
let ran = 0

/** Those that need no database go on while it starts. */
let hasPostgres = !tests.some(needsPostgres)
const postgres = hasPostgres
  ? Promise.resolve()
  : globalSetup().then(() => {
      hasPostgres = true
    })
const waiting = [...tests]

async function runSome(): Promise<void> {
  while (waiting.length > 0 && failed.length < ENOUGH && performance.now() - startedAt < mostMs) {
    const next = waiting.findIndex((test) => hasPostgres || !needsPostgres(test))
    if (next === -1) await postgres
    else await run(waiting.splice(next, 1)[0] ?? '')
  }
}

async function run(test: string): Promise<void> {
  const words = ['--test', '--test-timeout=180000', test]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/reams') }
  const child = spawn(process.execPath, words, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const timer = setTimeout(() => child.kill(), mostMs - (performance.now() - startedAt))
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  clearTimeout(timer)
  if (child.killed) return
  ran++
  if (status === 0) return
  failed.push(test)
  console.log(`${test} failed:\n${summaryOf(output)}\n`)
}

/** What failed first, without the many lines that a difference or a stack can have. */
function summaryOf(output: string): string {
  const [, failures = output] = output.split('failing tests:\n')
  return failures.trim().split('\n').slice(0, SHOWN_LINES).join('\n')
}

await Promise.all(Array.from({ length: AT_ONCE }, runSome))
await postgres
await globalTeardown()
const seconds = Math.round((performance.now() - startedAt) / 1_000)
const rest = ran < tests.length ? ` ${tests.length - ran} more are affected: npm test runs them.` : ''
console.log(`${ran} of ${tests.length} affected test files ran in ${seconds} s, ${failed.length} failed.${rest}`)
if (failed.length > 0) process.exitCode = 1

/** The most likely to notice first: those that speak of the same things as the changed lines and files. */
function inOrder(affected: readonly string[]): string[] {
  const existing = changed.filter((file) => existsSync(join(ROOT, file)))
  const change = git('diff', '-U5', since).replaceAll(/^[-+]{3} .*$/gm, '')
  return bySimilarity(
    [change, ...existing, ...existing.map(read)].join('\n'),
    new Map(affected.map((test) => [test, textOf(test)])),
  )
}

/** A test with the suites and parts that hardly any other test uses. */
function textOf(test: string): string {
  const own = [...reach(test, graph)].filter((file) => file.startsWith('test/') && (users.get(file) ?? 0) < SHARED)
  return [...own, ...[test, ...own].map(read)].join('\n')
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function gitList(...words: string[]): string[] {
  return git(...words)
    .split('\0')
    .filter((path) => path !== '')
}

function git(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) stop(stderr.trim())
  return stdout
}

function stop(reason: string): never {
  console.error(`test:changed: ${reason}`)
  process.exit(2)
}
