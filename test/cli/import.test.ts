import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { waitUntil } from '../wait-until.ts'
import { directoryWith, inStore, refused, run, storeMaker, succeeds } from './directory.ts'
import { eventLines, putLines, storedLines } from './items.ts'
import { MAIN, RunningCli, workDirectory } from './run-cli.ts'

/** A store that holds `events` with the keys 1 to 3. */
const withEvents = storeMaker((directory) => putLines(directory, 'events', eventLines(3), { keyField: 'id' }))

/** Imports into `events` from standard input. */
const importLines = (directory: string, input: string, flags = '') =>
  run(directory, `import events -${flags}`, { input })

describe('import', () => {
  const items = '{"a":"1","b":"x"}\n{"a":"2","b":"y, z"}\n'
  const files: Record<string, string | Uint8Array> = {
    'x.ndjson': items,
    'x.jsonl.gz': gzipSync(items),
    'x.json': '[{"a":"1","b":"x"}, {"a":"2","b":"y, z"}]',
    'x.csv.gz': gzipSync('a,b\n1,x\n2,"y, z"\n'),
  }
  it('reads NDJSON, JSON and CSV, also packed, and replaces all there was with --replace', async (t) => {
    const directory = directoryWith(t, files)
    await putLines(directory, 'events', eventLines(3))
    for (const name of Object.keys(files)) {
      assert.match(
        await succeeds(directory, `import events ${name} --replace`),
        /^events: 2 items imported in [\d.]+ m?s( \(\d+ items\/s\))?; the collection now has 2 items, 1 page\.( CSV values are text; .*)?\n$/,
      )
      assert.equal(await storedLines(directory, 'events'), items)
    }
  })

  it('reads standard input, as NDJSON unless told otherwise, with byte-order mark, blank lines and CRLF', async (t) => {
    const directory = workDirectory(t)
    await run(directory, 'import events - --format json', { input: gzipSync('[{"a":1}]') })
    await importLines(directory, '\ufeff{"a":2}\r\n\r\n\n{"a":3}\r\n')
    assert.equal(await storedLines(directory, 'events'), '{"a":1}\n{"a":2}\n{"a":3}\n')
  })

  it('makes an empty collection of an empty file, and says so', async (t) => {
    const directory = workDirectory(t)
    const { status, stdout, stderr } = await importLines(directory, '')
    assert.deepEqual([status, stderr], [0, 'reams: standard input has no items.\n'])
    assert.match(stdout, /^events: 0 items imported .*; the collection now has 0 items, 1 page\.\n$/)
    assert.equal(await storedLines(directory, 'events'), '')
  })

  it('takes its settings from variables too', async (t) => {
    const directory = workDirectory(t)
    const variables = { REAMS_STORE: 'other.db', REAMS_KEY: 'id', REAMS_UNPAGINATED: '1', REAMS_PRIVATE: 'true' }
    await run(directory, 'import events -', { variables, input: eventLines(2) })
    assert.match(await succeeds(directory, 'collections --store other.db'), /^events +2 +- +id +unpaginated, private$/m)
  })

  it('refuses a key that exists, with the line and the key, or skips it, or replaces the item in its place', async (t) => {
    const directory = await withEvents(t)
    const { status, stderr } = await importLines(directory, `${eventLines(2, 10)}\n{"id":"3"}\n`)
    assert.equal(status, 1)
    assert.match(stderr, /^reams: standard input, line 4: .*key "3".*--on-conflict skip.*--on-conflict replace/)
    assert.match(stderr, /Nothing was imported\.\n$/)
    const skipped = await importLines(directory, `{"id":2}\n${eventLines(1, 4)}`, ' --on-conflict skip')
    assert.match(skipped.stdout, /^events: 1 item imported, 1 skipped in .* now has 4 items, 1 page\.\n$/)
    const replaced = await importLines(directory, '{"id":2}\n', ' --on-conflict replace')
    assert.match(replaced.stdout, /^events: 0 items imported, 1 replaced in .* now has 4 items, 1 page\.\n$/)
    assert.equal(await storedLines(directory, 'events'), `${eventLines(1)}{"id":2}\n${eventLines(2, 3)}`)
  })

  it('names both places of a key that is in the input twice, by line where that is known, else by item', async (t) => {
    const directory = workDirectory(t)
    const twice: Readonly<Record<string, readonly [bytes: string, message: string]>> = {
      'a.ndjson': [`\n${eventLines(1200)}\n{"id":"700"}\n`, 'a.ndjson, line 1203: line 701 has the key "700" too'],
      'a.json': ['[{"id":1},\n{"id":2}, {"id":2}]', 'a.json, line 2: items 2 and 3 both have the key "2"'],
      'a.csv': ['id,b\n1,"x\ny"\n2,c\n1,d\n', 'a.csv, line 5: line 2 has the key "1" too'],
    }
    const message = async (words: string, input = '') => {
      const { status, stderr } = await run(directory, `import twice ${words} --key id`, { input })
      assert.equal(status, 1)
      return stderr
    }
    for (const [file, [bytes, says]] of Object.entries(twice)) {
      writeFileSync(join(directory, file), bytes)
      const advice = '--on-conflict skip keeps the first item of a key, --on-conflict replace the last'
      assert.equal(await message(file), `reams: ${says}; ${advice}. Nothing was imported.\n`)
    }
    writeFileSync(join(directory, 'b.json'), '{"data":[{"id":1},\n{"id":1}]}')
    const inside = /^reams: b\.json is an object: .*\nreams: b\.json, line 2: line 1 has the key "1" too;.*\n$/
    assert.match(await message('b.json'), inside)
    assert.match(await message('-', '{"id":1}\n\n{"id":1}\n'), /input, line 3: items 1 and 2 both have the key "1";/)
    assert.match(await message('- --format csv --types', 'id\n7\n8\n7\n'), /line 4: line 2 has the key "7" too;/)
    const stdout = await succeeds(directory, 'import twice a.csv --key id --on-conflict replace')
    assert.match(stdout, /2 items imported, 1 replaced/)
    assert.equal(await storedLines(directory, 'twice'), '{"id":"1","b":"d"}\n{"id":"2","b":"c"}\n')
  })

  it('lists what it skipped with --report, in order, in a new file that is complete or not there', async (t) => {
    const directory = await withEvents(t)
    const lines = `${eventLines(1)}\n{"id":"x"}\n${eventLines(600, 4)}{"id": "x", "a":"é"}\n`
    const report = ' --on-conflict skip --report skipped.ndjson'
    const failed = await importLines(directory, `${lines}[]\n`, report)
    assert.deepEqual([failed.status, existsSync(join(directory, 'skipped.ndjson'))], [1, false])
    assert.match((await importLines(directory, lines, report)).stdout, / 601 items imported, 2 skipped/)
    assert.equal(
      readFileSync(join(directory, 'skipped.ndjson'), 'utf8'),
      `{"line":1,"number":1,"key":"1","item":${eventLines(1).trim()}}\n{"line":604,"number":603,"key":"x","item":{"id": "x", "a":"é"}}\n`,
    )
    const again = await importLines(directory, lines, report)
    assert.equal(again.stderr, 'reams: skipped.ndjson already exists. Name another file for the report.\n')
    await importLines(directory, lines, ' --on-conflict skip --report all.ndjson.gz')
    const all = gunzipSync(readFileSync(join(directory, 'all.ndjson.gz')))
      .toString()
      .trim()
      .split('\n')
    assert.deepEqual(
      all.map((line) => JSON.parse(line).number),
      Array.from({ length: 603 }, (_, index) => index + 1),
    )
    assert.doesNotMatch(readdirSync(directory).join(), /reams-part-/)
  })

  it('refuses a report without --on-conflict skip, and one that is no file or cannot be written', async (t) => {
    const directory = await withEvents(t)
    const wrong: [flags: string, message: RegExp][] = [
      ['--report r', /^reams: --report lists the items that --on-conflict skip leaves out: add that/],
      ['--on-conflict skip --report -', /^reams: - is not a file, and the report needs one\./],
      ['--on-conflict skip --report /dev/null', /^reams: \/dev\/null is not a file/],
      ['--on-conflict skip --report no/r', /^reams: .*no\/r cannot be written: its directory does not exist/],
    ]
    const input = eventLines(1, 4)
    for (const [flags, message] of wrong) await refused(directory, `import events - ${flags}`, 2, message, { input })
    assert.equal(await storedLines(directory, 'events'), eventLines(3))
  })

  it('says that a key is a top-level field where it looks like a path', async (t) => {
    const directory = workDirectory(t)
    const words = 'import new - --key name.common'
    const reason = 'the key field "name.common" is missing; a key is a field at the top level of the item'
    const message = new RegExp(`line 1: ${reason}`)
    await refused(directory, words, 1, message, { input: '{"name":{"common":"Chad"}}\n' })
    await succeeds(directory, words, { input: '{"name.common":"Chad"}\n' })
  })

  it('refuses settings other than those of the collection, both named, and uses its key without being told', async (t) => {
    const directory = await withEvents(t)
    const differing: [flags: string, message: RegExp][] = [
      [' --key title', /"id".*"title"/],
      [' --unpaginated', / paginated.* unpaginated/],
      [' --private', /public.*private.*reams set events --private/],
      ['', /standard input, line 1: .*id/],
    ]
    const input = '{"title":"no id"}\n'
    for (const [flags, message] of differing) await refused(directory, `import events -${flags}`, 1, message, { input })
    assert.match((await run(directory, 'import new - --on-conflict skip', { input })).stderr, /has no key/)
    assert.equal(await storedLines(directory, 'events'), eventLines(3))
  })

  it('refuses a wrong name, a format it cannot guess and a file that is none, and creates no store', async (t) => {
    const directory = directoryWith(t, { 'x.txt': eventLines(1) })
    mkdirSync(join(directory, 'folder.ndjson'))
    for (const name of ['Events', '-x', 'a/b', '@x', '', 'x'.repeat(65)]) {
      const message = /^reams: Invalid collection name ".*": expected 1 to 64 of a-z 0-9/
      await refused(directory, ['import', '--', name, '-'], 2, message)
    }
    const wrong: [words: string, message: RegExp][] = [
      ['import x x.txt', /x\.txt does not show its format: expected \.ndjson, \.jsonl, \.json, \.csv/],
      ['import x no.csv', /^reams: There is no file no\.csv\. Check the path\.\n$/],
      ['import x folder.ndjson', /^reams: folder\.ndjson is a directory: expected a file of items\.\n$/],
      ['serve folder.ndjson', /^reams: folder\.ndjson is a directory: expected a file of items\.\n$/],
    ]
    for (const [words, message] of wrong) await refused(directory, words, 2, message)
    await succeeds(directory, 'import x x.txt --format ndjson')
  })

  it('refuses a directory as standard input, and keeps what is there', async (t) => {
    const directory = await withEvents(t)
    const stdin = openSync(directory, 'r')
    t.after(() => closeSync(stdin))
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'import', 'events', '-', '--replace'], {
      cwd: directory,
      stdio: [stdin, 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    assert.equal(status, 2)
    assert.match(stderr, /Standard input is a directory/)
    assert.equal(await storedLines(directory, 'events'), eventLines(3))
  })
})

describe('an import of bad input', () => {
  const good = eventLines(2)
  const bad: [file: string, bytes: string | Uint8Array, message: RegExp][] = [
    ['array.ndjson', `${good}[1]\n`, /line 3: .*object.*\[1\]/],
    ['large.ndjson', `${good}{"a":"${'x'.repeat(262_144)}"}\n`, /line 3: .*item-bytes/],
    ['half.json', '[{"a":1},\n{"a":', /, line 2: /],
    ['half.ndjson.gz', gzipSync(eventLines(5000)).subarray(0, 5000), /gzip/],
  ]

  it('names file and reason, and loses nothing', async (t) => {
    const directory = directoryWith(t, Object.fromEntries(bad))
    await putLines(directory, 'events', good)
    for (const [file, , message] of bad) {
      const reason = new RegExp(`^reams: ${file}(?=.*${message.source}).* Nothing was imported\\.\\n$`)
      await refused(directory, `import events ${file}`, 1, reason)
    }
    assert.equal(await storedLines(directory, 'events'), good)
  })

  it('leaves no store behind where there was none, and leaves an empty one alone', async (t) => {
    const directory = directoryWith(t, { 'x.ndjson': `${good}[1]\n` })
    await refused(directory, 'import events x.ndjson', 1, /Nothing was imported/)
    await inStore(join(directory, 'reams.db'), async () => {}, true)
    await refused(directory, 'import events x.ndjson', 1, /Nothing was imported/)
    assert.ok(existsSync(join(directory, 'reams.db')))
  })

  it('keeps to --item-bytes, and to the 10,000 items of an unpaginated collection', async (t) => {
    const directory = workDirectory(t)
    assert.equal((await importLines(directory, '{"a":1}\n', ' --item-bytes 6')).status, 1)
    assert.equal((await importLines(directory, '{"a":1}\n', ' --item-bytes 7')).status, 0)
    const message = /standard input: .*unpaginated.*10,000.*10,001.*Nothing was imported\./
    await refused(directory, 'import whole - --unpaginated', 1, message, { input: '{}\n'.repeat(10_001) })
  })
})

describe('an import that is under way', () => {
  it('tells a second one of the same collection to wait, lets one of another go on, and changes nothing when interrupted', async (t) => {
    const directory = await withEvents(t)
    const cli = new RunningCli(['import', 'events', '-'], { in: directory })
    // More than fits into the pipe, so that the program has begun to read.
    await cli.writes(eventLines(20_000, 4))
    const second = await importLines(directory, eventLines(1, 90_000))
    assert.equal(second.status, 3)
    assert.match(second.stderr, /^reams: .*An import or a copy of "events" has been running since /)
    await succeeds(directory, 'import venues -', { input: eventLines(1) })
    const stderr = 'reams: interrupted by SIGINT; nothing was changed.\n'
    assert.deepEqual(await cli.stop('SIGINT'), { status: 130, stdout: '', stderr })
    assert.match((await importLines(directory, eventLines(2, 4))).stdout, /now has 5 items/)
    assert.equal(await storedLines(directory, 'events'), eventLines(5))
  })

  it('ends also while it waits for a pipe that nobody writes to', async (t) => {
    const directory = workDirectory(t)
    execFileSync('mkfifo', [join(directory, 'silent.ndjson')])
    const cli = new RunningCli(['import', 'events', 'silent.ndjson'], { in: directory })
    await waitUntil(() => existsSync(join(directory, 'reams.db')))
    assert.equal((await cli.stop('SIGTERM')).status, 143)
  })
})
