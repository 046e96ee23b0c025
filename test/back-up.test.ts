import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { eventLines, putLines } from './cli/items.ts'
import { runInside, startServer, workDirectory } from './cli/run-cli.ts'

const ROOT = join(import.meta.dirname, '..')
const PATH = `${join(ROOT, 'bin')}:${process.env['PATH']}`
const SCRIPT = join(ROOT, 'packaging/reams-backup')

describe('a store that is served', () => {
  it('is not whole in its file alone: a copy of that misses the last write, a backup does not', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
    const { stdout: token } = await runInside(['token', 'create', '--name', 'w', '--scope', 'admin'], { in: directory })
    const { url } = await startServer(t, ['--log-requests', 'none'], { in: directory })
    const headers = { Authorization: `Bearer ${token.trim()}`, 'Content-Type': 'application/json' }
    const body = eventLines(1, 1235)
    assert.equal((await fetch(`${url}/events`, { method: 'POST', headers, body })).status, 201)

    copyFileSync(join(directory, 'reams.db'), join(directory, 'copy.db'))
    assert.equal((await runInside(['backup', 'monday.db'], { in: directory })).status, 0)
    const linesOf = async (store: string) => {
      assert.equal((await runInside(['verify', '--store', store], { in: directory })).status, 0)
      return (await runInside(['export', 'events', '--store', store], { in: directory })).stdout
    }
    assert.equal(await linesOf('copy.db'), eventLines(1234))
    assert.equal(await linesOf('monday.db'), eventLines(1235))
  })
})

/** The script with the variables of its unit, in a directory of the test, and without a store. */
function scheduled(t: TestContext) {
  const directory = workDirectory(t)
  const backups = join(directory, 'backups')
  mkdirSync(backups)
  const unit = readFileSync(join(ROOT, 'packaging/reams-backup.service'), 'utf8')
    .replaceAll('/var/lib/reams-backups', backups)
    .replaceAll('/var/lib/reams', directory)
  const lines = unit.matchAll(/^Environment=(REAMS_\w+)=(.*)$/gm)
  const ofUnit = Object.fromEntries([...lines].map(([, name, value]) => [name, value]))
  const run = (variables: Record<string, string> = {}) =>
    spawnSync(SCRIPT, { env: { PATH, REAMS_PROGRAM: 'reams', ...ofUnit, ...variables }, encoding: 'utf8' })
  return { directory, backups, run }
}

describe('scheduled backups', () => {
  it('get the date as their name, and the oldest are removed, but nothing else', async (t) => {
    const { directory, backups, run } = scheduled(t)
    await putLines(directory, 'events', eventLines(10))
    const old = [1, 2, 3].map((day) => `reams-2025-01-0${day}T02-00-00Z.db`)
    for (const name of [...old, 'reams-by-hand.db', 'notes.txt']) writeFileSync(join(backups, name), '')
    for (const name of ['reams-part-AbCdEf', 'reams-public']) mkdirSync(join(backups, name))
    const { status, stdout, stderr } = run({ REAMS_BACKUP_KEEP: '2' })
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, /^.*: 1 collection with 10 items.*\n(reams-2025-01-0[12]T02-00-00Z\.db removed\.\n){2}$/)
    const [newest = '', ...others] = readdirSync(backups)
      .toSorted()
      .reverse()
      .filter((name) => /-20\d\d-/.test(name))
    assert.match(newest, /^reams-20\d\d-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/)
    assert.deepEqual(others, ['reams-2025-01-03T02-00-00Z.db'])
    const kept = readdirSync(backups).filter((name) => !/-20\d\d-/.test(name))
    assert.deepEqual(kept.toSorted(), ['notes.txt', 'reams-by-hand.db', 'reams-public'])
    assert.equal(statSync(join(backups, newest)).mode & 0o777, 0o600)
    const words = ['export', 'events', '--store', join(backups, newest)]
    assert.equal((await runInside(words, { in: directory })).stdout, eventLines(10))
  })

  it('that fail remove nothing', (t) => {
    const { backups, run } = scheduled(t)
    const names = ['reams-2025-01-01T02-00-00Z.db', 'reams-2025-01-02T02-00-00Z.db']
    for (const name of names) writeFileSync(join(backups, name), '')
    const { status, stderr } = run({ REAMS_BACKUP_KEEP: '1' })
    assert.match(stderr, /^reams: There is no store at .* to back up/)
    assert.equal(status, 2)
    assert.deepEqual(readdirSync(backups), names)
  })

  it('refuse to keep what is no number of backups', async (t) => {
    const { directory, backups, run } = scheduled(t)
    await putLines(directory, 'events', eventLines(10))
    const reason = /^reams-backup: Invalid REAMS_BACKUP_KEEP ".*": expected a whole number from 1 to 999999\.\n$/
    for (const keep of ['0', '-1', '1.5', 'all', '07', '1000000']) {
      const { status, stderr } = run({ REAMS_BACKUP_KEEP: keep })
      assert.match(stderr, reason, keep)
      assert.equal(status, 2, keep)
      assert.deepEqual(readdirSync(backups), [])
    }
  })

  it('need their directory', (t) => {
    const { status, stderr } = scheduled(t).run({ REAMS_BACKUP_DIRECTORY: '/nowhere' })
    assert.deepEqual([status, stderr.startsWith('reams-backup: There is no directory /nowhere. Create it')], [2, true])
  })

  it('are a script for any shell', () => {
    execFileSync('sh', ['-n', SCRIPT])
  })
})
