import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventLines, putLines, storedLines } from './items.ts'
import { RunningCli, runCli, startServer, workDirectory } from './run-cli.ts'

/** A directory with a store that holds `events` with the keys 1 to 3. */
async function directoryWithEvents(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(3), { keyField: 'id' })
  return directory
}

describe('import', () => {
  const items = '{"a":"1","b":"x"}\n{"a":"2","b":"y, z"}\n'
  const files: Record<string, string> = {
    'x.ndjson': items,
    'x.jsonl': items,
    'x.json': '[{"a":"1","b":"x"}, {"a":"2","b":"y, z"}]',
    'x.csv': 'a,b\n1,x\n2,"y, z"\n',
  }
  for (const [file, text] of Object.entries(files))
    for (const [name, bytes] of [
      [file, text],
      [`${file}.gz`, gzipSync(text)],
    ] as const)
      it(`reads ${name}`, async (t) => {
        const directory = workDirectory(t)
        writeFileSync(join(directory, name), bytes)
        const result = await runCli(['import', 'events', name], { in: directory })
        assert.equal(result.stderr, '')
        assert.match(
          result.stdout,
          /^events: 2 items imported in \d+(\.\d)? m?s( \(\d+ items\/s\))?; the collection now has 2 items, 1 page\.\n$/,
        )
        assert.equal(result.status, 0)
        assert.equal(await storedLines(directory, 'events'), items)
      })

  it('reads standard input, as NDJSON unless told otherwise, plain or gzip', async (t) => {
    const directory = workDirectory(t)
    const input = gzipSync('[{"a":1},{"a":2}]')
    assert.equal((await runCli(['import', 'x', '-', '--format', 'json'], { in: directory, input })).status, 0)
    assert.equal((await runCli(['import', 'x', '-'], { in: directory, input: '{"a":3}\n' })).status, 0)
    assert.equal(await storedLines(directory, 'x'), '{"a":1}\n{"a":2}\n{"a":3}\n')
  })

  it('makes an empty collection of an empty file, and says so', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'x.ndjson'), '')
    const result = await runCli(['import', 'events', 'x.ndjson'], { in: directory })
    assert.match(result.stdout, /^events: 0 items imported .*; the collection now has 0 items, 1 page\.\n$/)
    assert.equal(await storedLines(directory, 'events'), '')
  })

  it('names a file without a known extension, and takes it with --format', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'x.txt'), eventLines(1))
    const refused = await runCli(['import', 'events', 'x.txt'], { in: directory })
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /x\.txt does not tell its format\. Known are \.ndjson, \.jsonl, \.json, \.csv/)
    assert.equal(existsSync(join(directory, 'reams.db')), false)
    assert.equal((await runCli(['import', 'events', 'x.txt', '--format', 'ndjson'], { in: directory })).status, 0)
  })

  it('takes its settings from variables too', async (t) => {
    const directory = workDirectory(t)
    const variables = { REAMS_STORE: 'other.db', REAMS_KEY: 'id', REAMS_UNPAGINATED: '1', REAMS_PRIVATE: 'true' }
    await runCli(['import', 'events', '-'], { in: directory, variables, input: eventLines(2) })
    const listed = await runCli(['collections', '--store', 'other.db', '--json'], { in: directory })
    assert.deepEqual(JSON.parse(listed.stdout), [
      { name: 'events', items: 2, holes: 0, pages: null, key: 'id', paginated: false, private: true },
    ])
  })

  it('swaps the whole collection with --replace', async (t) => {
    const directory = await directoryWithEvents(t)
    const result = await runCli(['import', 'events', '-', '--replace'], { in: directory, input: eventLines(2, 2) })
    assert.match(result.stdout, /2 items imported .* now has 2 items/)
    assert.equal(await storedLines(directory, 'events'), eventLines(2, 2))
  })

  it('refuses a key that is there, with the line and the key, and keeps what was there', async (t) => {
    const directory = await directoryWithEvents(t)
    const file = join(directory, 'more.ndjson')
    writeFileSync(file, `${eventLines(2, 10)}\n{"id":"3"}\n`)
    const result = await runCli(['import', 'events', file], { in: directory })
    assert.equal(result.status, 1)
    assert.match(result.stderr, /^reams: .*more\.ndjson, line 4: .*key "3".*--on-conflict skip.*--on-conflict replace/)
    assert.match(result.stderr, /Nothing was imported\.\n$/)
    assert.equal(await storedLines(directory, 'events'), eventLines(3))
  })

  it('leaves such items out with --on-conflict skip, and says how many', async (t) => {
    const directory = await directoryWithEvents(t)
    const words = ['import', 'events', '-', '--on-conflict', 'skip']
    const result = await runCli(words, { in: directory, input: `{"id":2}\n${eventLines(1, 4)}` })
    assert.match(result.stdout, /^events: 1 item imported, 1 skipped in .* now has 4 items, 1 page\.\n$/)
    assert.equal(await storedLines(directory, 'events'), eventLines(4))
  })

  it('puts them in the places of the old ones with --on-conflict replace', async (t) => {
    const directory = await directoryWithEvents(t)
    const words = ['import', 'events', '-', '--on-conflict', 'replace']
    const result = await runCli(words, { in: directory, input: '{"id":2}\n' })
    assert.match(result.stdout, /^events: 0 items imported, 1 replaced in .* now has 3 items, 1 page\.\n$/)
    assert.equal(await storedLines(directory, 'events'), `${eventLines(1)}{"id":2}\n${eventLines(1, 3)}`)
  })

  const differing: [words: string[], both: RegExp][] = [
    [['--key', 'title'], /"id".*"title"/],
    [['--unpaginated'], / paginated.* unpaginated/],
    [['--private'], /public.*private.*reams set/],
  ]
  for (const [words, both] of differing)
    it(`refuses ${words.join(' ')} on a collection created otherwise, both named`, async (t) => {
      const directory = await directoryWithEvents(t)
      const result = await runCli(['import', 'events', '-', ...words], { in: directory, input: eventLines(1, 9) })
      assert.equal(result.status, 1)
      assert.match(result.stderr, both)
      assert.equal(await storedLines(directory, 'events'), eventLines(3))
    })

  it('uses the stored key without being told', async (t) => {
    const directory = await directoryWithEvents(t)
    const result = await runCli(['import', 'events', '-'], { in: directory, input: '{"title":"no id"}\n' })
    assert.equal(result.status, 1)
    assert.match(result.stderr, /standard input, line 1: .*id/)
  })

  for (const name of ['Events', '-x', 'a/b', '@x', '', 'x'.repeat(65)])
    it(`refuses the name "${name}" and says what a name is`, async (t) => {
      const directory = workDirectory(t)
      const result = await runCli(['import', '--', name, '-'], { in: directory, input: eventLines(1) })
      assert.equal(result.status, 2)
      assert.match(result.stderr, /cannot be the name of a collection.*1 to 64 of a-z 0-9/)
      assert.equal(existsSync(join(directory, 'reams.db')), false)
    })

  it('refuses the 10,001st item of an unpaginated collection and keeps nothing', async (t) => {
    const directory = workDirectory(t)
    const words = ['import', 'events', '-', '--unpaginated']
    const result = await runCli(words, { in: directory, input: eventLines(10_001) })
    assert.equal(result.status, 1)
    assert.match(result.stderr, /standard input: .*unpaginated.*10,000.*10,001.*Nothing was imported\./)
    assert.match((await runCli(['collections'], { in: directory })).stdout, /has no collections/)
    assert.equal((await runCli(words, { in: directory, input: eventLines(10_000) })).status, 0)
  })

  it('shows in the next answer of a server on the same store', async (t) => {
    const directory = await directoryWithEvents(t)
    const server = await startServer(t, [], { in: directory })
    const count = async () => ((await (await server.get('/events')).json()) as { item_count: number }).item_count
    assert.equal(await count(), 3)
    assert.equal((await runCli(['import', 'events', '-'], { in: directory, input: eventLines(600, 4) })).status, 0)
    assert.equal(await count(), 603)
  })

  it('tells a second import of the same collection to wait, and lets one of another go on', async (t) => {
    const directory = await directoryWithEvents(t)
    const first = new RunningCli(['import', 'events', '-'], { in: directory })
    t.after(() => first.child.kill('SIGKILL'))
    await first.writes(eventLines(50_000, 4))
    const second = await runCli(['import', 'events', '-'], { in: directory, input: eventLines(1, 90_000) })
    assert.equal(second.status, 3)
    assert.match(second.stderr, /"events"/)
    assert.equal((await runCli(['import', 'venues', '-'], { in: directory, input: eventLines(1) })).status, 0)
    first.child.stdin?.end()
    assert.match((await first.ends()).stdout, /^events: 50,000 items imported/)
  })
})
