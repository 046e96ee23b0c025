/** Directories that hold files or a store, and commands that run there inside this process. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { DataLocation } from '../../src/cli/data-location.ts'
import { withStore } from '../../src/cli/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import type { PostgresServer } from '../store/postgres-server.ts'
import { startProxy } from '../store/tcp-proxy.ts'
import { type CliResult, type InsideOptions, runInside, workDirectory } from './run-cli.ts'

type RunOptions = Omit<InsideOptions, 'in'>

/** The words of a command: a text is split at its spaces. */
type Words = string | readonly string[]

export function directoryWith(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = workDirectory(t)
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(directory, name), bytes)
  return directory
}

/**
 * Gives each test a directory with `reams.db` as `fill` makes it. Only the first test fills it and the others get a copy, since
 * every store that is opened for writing starts a thread.
 */
export function storeMaker(fill: (directory: string) => Promise<unknown>): (t: TestContext) => Promise<string> {
  let bytes: Uint8Array | undefined
  return async (t) => {
    const directory = workDirectory(t)
    const path = join(directory, 'reams.db')
    if (bytes !== undefined) writeFileSync(path, bytes, { mode: 0o600 })
    else {
      await fill(directory)
      bytes = readFileSync(path)
    }
    return directory
  }
}

export async function run(directory: string, words: Words, options: RunOptions = {}): Promise<CliResult> {
  const result = await runInside(typeof words === 'string' ? words.split(' ') : words, { in: directory, ...options })
  assert.doesNotMatch(result.stdout + result.stderr, /secret.password/i)
  return result
}

/** Runs what must succeed and say nothing on stderr; returns what it prints. */
export async function succeeds(directory: string, words: Words, options: RunOptions = {}): Promise<string> {
  const { status, stdout, stderr } = await run(directory, words, options)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' }, stdout)
  return stdout
}

/** Runs what must fail with one line on stderr, print nothing else, and add and remove no file. */
export async function refused(
  directory: string,
  words: Words,
  status: number,
  message: string | RegExp,
  options: RunOptions = {},
): Promise<void> {
  const before = readdirSync(directory)
  const { stderr, ...result } = await run(directory, words, options)
  if (typeof message === 'string') assert.equal(stderr, `reams: ${message}\n`)
  else assert.match(stderr, message)
  assert.match(stderr, /^reams: .*\n$/)
  assert.deepEqual(result, { status, stdout: '' }, stderr)
  assert.deepEqual(readdirSync(directory), before, 'no file was added or removed')
}

/**
 * Runs a command and looks at it in every turn of the event loop, until `look` returns true or the command ends. So it
 * sees each state between two steps of the command, on a machine of any speed.
 */
export async function runWatched(directory: string, words: Words, look: () => unknown, options: RunOptions = {}) {
  let isLooking = true
  const next = (): void => {
    if (isLooking && look() !== true) setImmediate(next)
  }
  setImmediate(next)
  return run(directory, words, options).finally(() => {
    isLooking = false
  })
}

/** Sends a signal to the commands in this process; unlike a real one it comes at once, and ends nothing if none of them runs. */
export function interrupt(signal: 'SIGINT' | 'SIGTERM'): boolean {
  return process.listeners(signal).map((listener) => listener(signal)).length > 0
}

/** Opens the store at a path or URL of a database, and closes it after its use. */
export function inStore<T>(place: string, use: (store: Store) => Promise<T>, create = false): Promise<T> {
  return withStore(new DataLocation(place), { create }, use)
}

/** URLs for stores in the server of a suite, which are dropped at the end of the suite. */
export function storesInPostgres(start: () => Promise<PostgresServer>) {
  const schemas: string[] = []
  let url = ''
  before(async () => {
    url = (await start()).url
  })
  after(async () => {
    for (const schema of schemas) await runSql(url, '', `DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  })
  const newUrl = (server = url): string => {
    const schema = newSchema()
    schemas.push(schema)
    return withParameter(server, 'schema', schema)
  }
  const newUrlWithProxy = async (t: TestContext) => {
    const { hostname, port } = new URL(url)
    const proxy = await startProxy(hostname, Number(port))
    t.after(() => proxy.close())
    return { proxy, url: newUrl(url.replace(`:${port}/`, `:${proxy.port}/`)) }
  }
  const password = () => decodeURIComponent(new URL(url).password)
  return { newUrl, newUrlWithProxy, password, sql: (text: string) => runSql(url, '', text) }
}
