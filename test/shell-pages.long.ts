import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventLines } from './cli/items.ts'
import { RunningCli, runInside, workDirectory } from './cli/run-cli.ts'
import { describeShellPages, OTHER_PAGES } from './shell-pages.ts'

const ROOT = join(import.meta.dirname, '..')

describe('a page', () => describeShellPages(OTHER_PAGES))

describe('the page about a nightly replace', () => {
  it('has a command for cron and systemd that swaps all items, and none if one is bad', async (t) => {
    const directory = workDirectory(t)
    const store = join(directory, 'reams/reams.db')
    for (const path of ['exports', 'reams']) mkdirSync(join(directory, path))
    const page = readFileSync(join(ROOT, 'docs/how-to/nightly-replace.md'), 'utf8')
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(page) ?? []
    assert.ok(page.includes(`\n0 3 * * *  ${command} > /dev/null\n`))
    const here = command
      .replaceAll('/srv/exports', join(directory, 'exports'))
      .replaceAll('/var/lib/reams', join(directory, 'reams'))
      .replaceAll('/opt/reams', ROOT)
    const run = (text: string) => {
      writeFileSync(join(directory, 'exports/events.ndjson.gz'), gzipSync(text))
      execFileSync('sh', ['-c', `${here} > /dev/null`], { stdio: 'pipe' })
    }
    run(eventLines(3))
    run(eventLines(2, 7))
    assert.throws(() => run(`${eventLines(5)}17\n`), /events\.ndjson\.gz.*line 6/)
    const { stdout } = await runInside(['export', 'events', '--store', store], { in: directory })
    assert.equal(stdout, eventLines(2, 7))
  })
})

describe('the page about systemd', () => {
  it('has commands for a store that is served, and a backup that can take its place', async (t) => {
    const directory = workDirectory(t)
    const page = readFileSync(join(ROOT, 'docs/how-to/systemd.md'), 'utf8')
      .replaceAll('/var/lib/reams', directory)
      .replaceAll('/srv/exports', directory)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1234))
    const [, served = ''] = /^ExecStart=\/opt\/reams\/bin\/reams (.*)$/m.exec(page) ?? []
    const server = new RunningCli(served.split(' '), { in: directory, variables: { REAMS_PORT: '0' } })
    t.after(() => server.child.kill('SIGKILL'))
    await server.prints('Ctrl-C stops it.')
    const [, port] = /port (\d+)/.exec(server.stdout) ?? []

    const commands = [...page.matchAll(/^runuser -u reams -- \/opt\/reams\/bin\/reams (.*)$/gm)].map(
      ([, words = '']) => words,
    )
    const found = commands.map((words) => words.split(' ')[0])
    assert.deepEqual(found, ['import', 'token', 'backup'])
    for (const words of commands) {
      const result = await runInside(words.split(' '), { in: directory })
      assert.equal(result.status, 0, result.stderr)
    }
    const { item_count: itemCount } = JSON.parse(await (await fetch(`http://127.0.0.1:${port}/events`)).text())
    assert.equal(itemCount, 1234)
    assert.equal((await server.stop()).status, 0)

    for (const name of ['reams.db', 'reams.db-wal', 'reams.db-shm']) rmSync(join(directory, name), { force: true })
    assert.ok(!existsSync(join(directory, 'backup.db-wal')))
    renameSync(join(directory, 'backup.db'), join(directory, 'reams.db'))
    const restored = await runInside(['export', 'events'], { in: directory })
    assert.equal(restored.stdout, eventLines(1234))
    assert.match((await runInside(['token', 'list'], { in: directory })).stdout, /app +active/)
  })
})
