import assert from 'node:assert/strict'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { eventLines, putLines } from './items.ts'
import { runCli, workDirectory } from './run-cli.ts'

describe('verify', () => {
  it('says that a sound store is sound', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1200), { keyField: 'id' })
    const result = await runCli(['verify'], { in: directory })
    assert.deepEqual(result, {
      status: 0,
      stdout: 'reams.db: 1 collection with 1,200 items checked, all sound.\n',
      stderr: '',
    })
  })

  it('says what is wrong, the summary last, and exits with 1', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1200))
    const database = new DatabaseSync(join(directory, 'reams.db'))
    database.exec('UPDATE head SET live = live + 1')
    database.close()
    const result = await runCli(['verify'], { in: directory })
    assert.equal(result.status, 1)
    assert.equal(result.stderr, '')
    const lines = result.stdout.trimEnd().split('\n')
    assert.ok(lines.length >= 2)
    assert.equal(lines[0], 'The head of "events" does not match its checksum.')
    for (const line of lines.slice(1, -1)) assert.match(line, /^events: ./)
    assert.match(lines.at(-1) ?? '', /^reams\.db: 1 collection .* checked, \d+ wrong\.$/)
  })

  it('names no collection for what belongs to none', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(3))
    const database = new DatabaseSync(join(directory, 'reams.db'))
    database.exec('DELETE FROM head')
    database.close()
    const result = await runCli(['verify'], { in: directory })
    assert.equal(result.status, 1)
    assert.match(result.stdout, /^3 rows of "tail" belong to no collection/m)
  })

  it('counts a file that SQLite finds damaged as a no', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(20_000))
    const path = join(directory, 'reams.db')
    const file = openSync(path, 'r+')
    // Everything but the header and the schema.
    const noise = Buffer.alloc(statSync(path).size - 3 * 8192, 0xab)
    writeSync(file, noise, 0, noise.length, 3 * 8192)
    closeSync(file)
    const result = await runCli(['verify'], { in: directory })
    assert.equal(result.status, 1, result.stderr)
    assert.match(`${result.stdout}${result.stderr}`, /damaged|malformed/)
    assert.doesNotMatch(result.stderr, /\n +at /)
  })
})
