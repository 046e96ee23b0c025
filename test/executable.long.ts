import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { buildExecutable } from '../scripts/build-executable.ts'
import { makeAssets } from '../src/explorer/create-explorer.ts'
import { eventLines } from './cli/items.ts'
import { type CliOptions, RunningCli, runCli, startServer, workDirectory } from './cli/run-cli.ts'
import { type Place, runPage, TUTORIAL } from './shell-pages.ts'
import { startPostgres } from './store/postgres-server.ts'

const ROOT = join(import.meta.dirname, '..')

/** All that the tutorial needs beside Reams. */
const TOOLS = ['awk', 'cat', 'cmp', 'curl', 'head', 'mkdir', 'rm', 'seq', 'sh', 'sleep', 'tail', 'wc']

describe('the executable', () => {
  const place = mkdtempSync(join(tmpdir(), 'reams-executable-'))
  const program = join(place, 'reams')
  /** No Node can be found, and no file of anybody. */
  const alone = (t: TestContext): CliOptions => {
    const directory = workDirectory(t)
    const home = join(directory, 'home')
    mkdirSync(home)
    return { in: directory, program: [program], variables: { PATH: '', HOME: home, NODE_COMPILE_CACHE: '' } }
  }

  before(async () => renameSync(await buildExecutable(join(place, 'dist')), program))
  after(() => rmSync(place, { recursive: true }))

  it('says which version it is', async (t) => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    assert.deepEqual(await runCli(['--version'], alone(t)), { status: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('runs whatever NODE_OPTIONS says to the Node of the machine', async (t) => {
    const options = alone(t)
    const variables = { ...options.variables, NODE_OPTIONS: '--require /nonexistent.js' }
    const { status, stderr } = await runCli(['--version'], { ...options, variables })
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('works through the tutorial in an empty directory', (t) => {
    const prepare = (_t: unknown, { directory, variables }: Place) => {
      for (const made of ['bin', 'tools', 'home']) mkdirSync(join(directory, made))
      symlinkSync(program, join(directory, 'bin/reams'))
      for (const tool of TOOLS) {
        const path = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim()
        symlinkSync(path, join(directory, 'tools', tool))
      }
      const [PATH, HOME] = [join(directory, 'tools'), join(directory, 'home')]
      Object.assign(variables, { PATH, HOME, NODE_COMPILE_CACHE: '' })
    }
    return runPage(t, { ...TUTORIAL, prepare })
  })

  for (const workers of ['1', '2'])
    it(`keeps the contract with ${workers === '1' ? 'one process' : 'two processes'}, and brings the explorer`, async (t) => {
      const options = alone(t)
      writeFileSync(join(options.in, 'events.ndjson'), eventLines(1234))
      await runCli(['import', 'events', 'events.ndjson', '--key', 'id'], options)
      const { cli, url, get } = await startServer(t, ['--workers', workers, '--log-level', 'warn'], options)
      await assertConforming(url, options)
      const html = await (
        await fetch(`${url}/events`, { headers: { accept: 'text/html, application/xhtml+xml' } })
      ).text()
      const [, script = ''] = /src="([^"]+\.js)"/.exec(html) ?? []
      assert.ok((await (await get(script)).text()) === String(makeAssets().script.plain), script)
      const { status, stderr } = await cli.stop()
      assert.deepEqual([status, stderr], [0, ''])
    })

  it('keeps what it acknowledged, through kill -9', async (t) => {
    const options = alone(t)
    await runCli(['import', 'events', '-', '--key', 'id'], { ...options, input: eventLines(10) })
    const token = await runCli(['token', 'create', '--name', 'w', '--scope', 'write:events'], options)
    const { cli, url } = await startServer(t, ['--log-level', 'warn'], options)
    const headers = { authorization: `Bearer ${token.stdout.trim()}`, 'content-type': 'application/json' }
    const put = (id: number) => fetch(`${url}/events/${id}`, { method: 'PUT', headers, body: eventLines(1, id).trim() })
    for (let id = 11; id <= 60; id++) assert.equal((await put(id)).status, 201)
    cli.child.kill('SIGKILL')
    await cli.ends()
    assert.equal((await runCli(['export', 'events'], options)).stdout, eventLines(60))
    assert.equal((await runCli(['verify'], options)).status, 0)
  })

  it('keeps collections in PostgreSQL', async (t) => {
    const postgres = await startPostgres()
    t.after(() => postgres.stop())
    const store = new URL(postgres.url)
    store.searchParams.set('schema', `executable_${process.pid}`)
    const options = alone(t)
    const variables = { ...options.variables, REAMS_STORE: store.href }
    const there = { ...options, variables }
    const imported = await runCli(['import', 'events', '-', '--key', 'id'], { ...there, input: eventLines(1234) })
    assert.equal(imported.status, 0, imported.stderr)
    const { url } = await startServer(t, ['--log-level', 'warn'], there)
    await assertConforming(url, options)
    const mirror = new RunningCli(['mirror', `${url}/events`, '--store', 'mirror.db', '--once'], options)
    assert.equal((await mirror.ends()).status, 0, mirror.stderr)
    assert.equal((await runCli(['export', 'events', '--store', 'mirror.db'], options)).stdout, eventLines(1234))
  })
})

async function assertConforming(url: string, options: CliOptions): Promise<void> {
  const { status, stdout, stderr } = await runCli(['check', url], options)
  assert.equal(status, 0, stdout + stderr)
}
