import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventLines } from './cli/items.ts'
import { runCli, workDirectory } from './cli/run-cli.ts'
import { runShellPage } from './shell-page.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = readFileSync(join(ROOT, 'docs/how-to/nightly-replace.md'), 'utf8')
const VARIABLES = { PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}` }

/** The directories that the page names, with exports in them. */
function place(t: TestContext) {
  const directory = workDirectory(t)
  for (const path of ['exports', 'reams']) mkdirSync(join(directory, path))
  const adapt = (text: string) =>
    text
      .replaceAll('/srv/exports', join(directory, 'exports'))
      .replaceAll('/var/lib/reams', join(directory, 'reams'))
      .replaceAll('/opt/reams', ROOT)
  const write = (name: string, text: string) => writeFileSync(join(directory, 'exports', name), gzipSync(text))
  return { directory, adapt, write, store: join(directory, 'reams/reams.db') }
}

describe('the page about a nightly replace', () => {
  it('shows commands that work, in their order, and what they print', async (t) => {
    const { directory, adapt, write } = place(t)
    write('events.ndjson.gz', eventLines(1234))
    write('part-1.ndjson.gz', eventLines(600))
    write('part-2.ndjson.gz', eventLines(400, 601))
    await runShellPage(t, { markdown: PAGE, directory, variables: VARIABLES, adapt })
  })

  it('has a command for cron and systemd that swaps all items, and none if one is bad', async (t) => {
    const { directory, adapt, write, store } = place(t)
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(PAGE) ?? []
    assert.ok(PAGE.includes(`\n0 3 * * *  ${command} > /dev/null\n`))
    const run = () => execFileSync('sh', ['-c', `${adapt(command)} > /dev/null`], { env: VARIABLES, stdio: 'pipe' })
    const events = async () => (await runCli(['export', 'events', '--store', store], { in: directory })).stdout
    write('events.ndjson.gz', eventLines(3))
    run()
    write('events.ndjson.gz', eventLines(2, 7))
    run()
    write('events.ndjson.gz', `${eventLines(5)}17\n`)
    assert.throws(run, /events\.ndjson\.gz.*line 6/)
    assert.equal(await events(), eventLines(2, 7))
  })
})
