import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventLines } from './cli/items.ts'
import { runInside, workDirectory } from './cli/run-cli.ts'
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
