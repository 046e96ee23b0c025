/**
 * Runs the tests that can fail because of your changes since the last commit, or since COMMIT, in order of likelihood. It starts no more
 * tests after a minute, or --seconds, and lets those that run finish: a test that is killed would leave servers behind.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../test/shared-postgres.ts'
import { reach, readGraph, testsAffectedBy } from './import-graph.ts'
import { similarities } from './similarity.ts'

const ROOT = join(import.meta.dirname, '..')
const AT_ONCE = 3
/** Of each failing test file. */
const SHOWN_LINES = 15
/** A file with this many users says nothing about any of them. */
const SHARED = 8
/** A test that was changed, or names a changed file, is likelier to fail than one that reaches it through others. */
const DIRECT_WEIGHT = 2
/** After this many failures there is no need to run more. */
const ENOUGH = 3
const POSTGRES = 'test/store/postgres-server.ts'

const USAGE = 'Usage: npm run test:changed -- [COMMIT] [--seconds N] [--list]'

const { seconds, isList, since } = readWords()
const mostMs = seconds * 1_000
const changed = [
  ...gitList('diff', '--name-only', '-z', since, '--'),
  ...gitList('ls-files', '-oz', '--exclude-standard'),
]
const graph = readGraph()
/** By how many files each file is named. */
const users = new Map<string, number>()
for (const named of graph.values()) for (const file of named) users.set(file, (users.get(file) ?? 0) + 1)
const tests = inOrder(testsAffectedBy(changed, graph))
if (tests.length === 0) {
  console.log(changed.length === 0 ? `Nothing differs from ${since}.` : `No test uses ${changed.join(', ')}.`)
  process.exit()
}

if (isList) {
  console.log(tests.join('\n'))
  process.exit()
}

const needsPostgres = (test: string): boolean => reach(test, graph).has(POSTGRES)
const startedAt = performance.now()
const failed: string[] = []
let ran = 0
let isInterrupted = false
// The children get the signal too. This process then stops PostgreSQL and says what ran.
process.once('SIGINT', () => {
  isInterrupted = true
})

/** Tests that need no database run while it starts. */
let hasPostgres = !tests.some(needsPostgres)
const postgres = hasPostgres
  ? Promise.resolve()
  : globalSetup().then(() => {
      hasPostgres = true
    })
const waiting = [...tests]

async function runSome(): Promise<void> {
  while (waiting.length > 0 && failed.length < ENOUGH && !isInterrupted && performance.now() - startedAt < mostMs) {
    const next = waiting.findIndex((test) => hasPostgres || !needsPostgres(test))
    if (next === -1) await postgres
    else await run(waiting.splice(next, 1)[0] ?? '')
  }
}

async function run(test: string): Promise<void> {
  const words = ['--test', '--test-timeout=180000', test]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/reams'), REAMS_TEST_ALL: '1' }
  const child = spawn(process.execPath, words, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (isInterrupted) return
  ran++
  if (status === 0) return
  failed.push(test)
  console.log(`${test} failed:\n${summaryOf(output)}\n`)
}

/** The first failure, without long differences and stacks. */
function summaryOf(output: string): string {
  const [, failures = output] = output.split('failing tests:\n')
  return failures.trim().split('\n').slice(0, SHOWN_LINES).join('\n')
}

await Promise.all(Array.from({ length: AT_ONCE }, runSome))
await postgres
await globalTeardown()
const ranSeconds = Math.round((performance.now() - startedAt) / 1_000)
const rest = ran < tests.length ? ` ${tests.length - ran} more are affected: npm test runs them.` : ''
console.log(`${ran} of ${tests.length} affected test files ran in ${ranSeconds} s, ${failed.length} failed.${rest}`)
if (failed.length > 0 || isInterrupted) process.exitCode = 1

/** First those that share most words with the change, name a changed file and need few other files. */
function inOrder(affected: readonly string[]): string[] {
  const existing = changed.filter((file) => existsSync(join(ROOT, file)))
  const change = git('diff', '-U5', since, '--').replaceAll(/^[-+]{3} .*$/gm, '')
  const query = [change, ...existing, ...existing.map(read)].join('\n')
  const scores = similarities(query, new Map(affected.map((test) => [test, textOf(test)])))
  for (const [test, score] of scores) {
    const isDirect = [test, ...(graph.get(test) ?? [])].some((file) => changed.includes(file))
    scores.set(test, (score * (isDirect ? DIRECT_WEIGHT : 1)) / Math.log(2 + reach(test, graph).size))
  }
  return affected.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0))
}

/** The text of a test and of the test files that few others use, such as its suites. */
function textOf(test: string): string {
  const own = [...reach(test, graph)].filter((file) => file.startsWith('test/') && (users.get(file) ?? 0) < SHARED)
  return [...own, ...[test, ...own].map(read)].join('\n')
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function readWords(): { seconds: number; isList: boolean; since: string } {
  try {
    const { values, positionals } = parseArgs({
      options: { seconds: { type: 'string', default: '60' }, list: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const [commit = 'HEAD', ...others] = positionals
    if (others.length > 0 || !(Number(values.seconds) > 0)) stop(USAGE)
    return { seconds: Number(values.seconds), isList: values.list, since: commit }
  } catch (error) {
    return stop(`${error instanceof Error ? error.message : error}\n${USAGE}`)
  }
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
