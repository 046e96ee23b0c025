import assert from 'node:assert/strict'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { changeRows } from '../store/sqlite-rows.ts'
import { eventLines, putLines } from './items.ts'
import { runInside, workDirectory } from './run-cli.ts'

/** Verifies a store after a statement has changed it. */
async function verifyAfter(t: TestContext, sql: string, ...words: string[]) {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(1200), { keyField: 'id' })
  changeRows(join(directory, 'reams.db'), sql)
  return runInside(['verify', ...words], { in: directory })
}

describe('verify', () => {
  it('says that a sound store is sound', async (t) => {
    const stdout = 'reams.db: 1 collection with 1,200 items checked, no problems found.\n'
    assert.deepEqual(await verifyAfter(t, ''), { status: 0, stdout, stderr: '' })
  })

  it('says what is wrong, the summary last, and exits with 1', async (t) => {
    const { status, stdout, stderr } = await verifyAfter(t, 'UPDATE head SET live = live + 1')
    assert.deepEqual([status, stderr], [1, ''])
    const lines = stdout.trimEnd().split('\n')
    assert.equal(lines[0], 'The head of "events" does not match its checksum.')
    assert.ok(lines.length > 2)
    for (const line of lines.slice(1, -1)) assert.match(line, /^events: ./)
    assert.match(lines.at(-1) ?? '', /^reams\.db: 1 collection .* checked, \d+ problems? found\.$/)
  })

  it('lists with --json what is wrong, and names no collection for what belongs to none', async (t) => {
    const { status, stdout, stderr } = await verifyAfter(t, 'DELETE FROM head', '--json')
    assert.deepEqual([status, stderr], [1, ''])
    const { problems, collections } = JSON.parse(stdout)
    assert.equal(collections, 0)
    assert.equal(problems[0].collection, null)
    assert.ok(problems.some(({ message }: { message: string }) => message.startsWith('3 rows of "ream" belong')))
  })

  it('counts a file that SQLite finds damaged as a no', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(5_000))
    const path = join(directory, 'reams.db')
    const file = openSync(path, 'r+')
    // Everything but the header and the schema.
    const noise = Buffer.alloc(statSync(path).size - 3 * 8192, 0xab)
    writeSync(file, noise, 0, noise.length, 3 * 8192)
    closeSync(file)
    const { status, stdout, stderr } = await runInside(['verify'], { in: directory })
    assert.equal(status, 1, stderr)
    assert.match(stdout + stderr, /damaged|malformed/)
  })
})
