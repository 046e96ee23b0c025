/** Reams on Bun: what other tests ask of it, with the program, or with all of the test, run by Bun. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { eventLines } from './cli/items.ts'
import { MAIN, runCli, startServer, workDirectory } from './cli/run-cli.ts'
import { newSeed } from './faults/command.ts'
import { runFault } from './faults/fault.ts'
import { FAULTS } from './faults/faults/index.ts'
import { type Place, runPage, TUTORIAL } from './shell-pages.ts'
import { PostgresCluster } from './store/postgres-cluster.ts'
import { newSchema, withParameter } from './store/postgres-engine.ts'
import { startPostgres } from './store/postgres-server.ts'

const ROOT = join(import.meta.dirname, '..')
const BUN = process.env['REAMS_TEST_BUN'] ?? join(ROOT, 'node_modules/.bin/bun')

/** The attacks, how a server closes, and the store. Bun runs the test too: they are in the same process. */
const INSIDE_BUN = [
  ...['hostile-clients', 'listen', 'node-request', 'pipelines'].map((name) => `service/node/${name}`),
  ...['service/behind-nginx', 'service/client-address', 'service/waiting', 'store/sqlite', 'store/sqlite-lease'],
].map((name) => `./test/${name}.test.ts`)
/** Files, pipes, TLS, signals, workers, the admin port, the log. Node runs the test, and Bun the program. */
const STARTED_ON_BUN = ['serve', 'serve-admin', 'serve-log', 'serve-tls', 'serve-workers', 'rate-limit', 'mirror'].map(
  (name) => `test/cli/${name}.test.ts`,
)
const KILLS = ['kill-server', 'kill-import', 'pg-kill-server', 'pg-kill-import']

const lack = spawnSync(BUN, ['--version']).status === 0 ? false : `there is no Bun at ${BUN}`

describe('on Bun', { skip: lack }, () => {
  process.env['REAMS_TEST_RUNTIME'] = BUN
  after(() => delete process.env['REAMS_TEST_RUNTIME'])

  /** Runs a command that runs tests. */
  async function passes(program: string, words: readonly string[]): Promise<void> {
    // A test runner in a test would report to the one around it.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const child = spawn(program, words, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await ended
    assert.equal(status, 0, stdout + stderr)
  }

  it('a server survives every attack, and closes as it should; a store keeps its promises', () =>
    passes(BUN, ['test', '--timeout', '120000', ...INSIDE_BUN]))

  it('random requests do no harm to a server', () => passes(BUN, ['test/fuzz/run.ts', '--cases', '2000']))

  it('the program serves files, tables and stores, and ends when it is told to', () =>
    passes(process.execPath, ['--test', '--test-concurrency=1', '--test-timeout=120000', ...STARTED_ON_BUN]))

  for (const engine of ['SQLite', 'PostgreSQL'])
    it(`a store in ${engine} is written over HTTP, keeps the contract, and is undamaged when it was stopped`, async (t) => {
      const directory = workDirectory(t)
      let store = 'my.db'
      if (engine === 'PostgreSQL') {
        const postgres = await startPostgres()
        t.after(() => postgres.stop())
        store = withParameter(postgres.url, 'schema', newSchema())
      }
      const run = async (words: readonly string[]): Promise<string> => {
        const options = { in: directory, variables: { REAMS_STORE: store }, input: eventLines(1234) }
        const { status, stdout, stderr } = await runCli(words, options)
        assert.equal(status, 0, stderr)
        return stdout
      }
      await run(['import', 'events', '-', '--key', 'id'])
      const token = (await run(['token', 'create', '--name', 'test', '--scope', 'write:events']))
        .trim()
        .split(/\s/)
        .at(-1)
      const { cli, url } = await startServer(t, [], { in: directory, variables: { REAMS_STORE: store } })
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const written = await fetch(`${url}/events`, { method: 'POST', headers, body: '{"id":99999}' })
      assert.equal(written.status, 201)
      assert.match(await run(['check', `${url}/events`]), /^Passed: /m)
      const { status, stderr } = await cli.stop('SIGINT')
      assert.deepEqual([status, stderr.match(/"level":"(?!info)/)], [0, null])
      assert.match(await run(['verify']), /1,235 items checked, no problems found/)
    })

  it('kill -9 loses nothing that was acknowledged', async (t) => {
    await using postgres = await PostgresCluster.create(workDirectory(t))
    for (const fault of FAULTS.filter(({ name }) => KILLS.includes(name))) {
      const seed = newSeed()
      const { findings, checked } = await runFault(fault, { seed, rounds: fault.fewRounds, postgres })
      assert.deepEqual(findings.messages, [], `${fault.name}, seed ${seed}`)
      assert.ok(checked > 0, fault.name)
    }
  })

  it('the tutorial works as it stands', (t) => {
    const prepare = (_t: unknown, { directory, variables }: Place) => {
      mkdirSync(join(directory, 'bin'))
      writeFileSync(join(directory, 'bin/reams'), `#!/bin/sh\nexec ${BUN} ${MAIN} "$@"\n`, { mode: 0o755 })
      variables['PATH'] = process.env['PATH'] ?? ''
    }
    return runPage(t, { ...TUTORIAL, prepare })
  })
})
