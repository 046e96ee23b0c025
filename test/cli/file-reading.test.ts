import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { collectionNameOfFile, formatOfFile, namedFiles } from '../../src/cli/files/file-name.ts'
import { directoryWith, refused, run, succeeds } from './directory.ts'
import { putLines, storedLines } from './items.ts'
import { push, serveEvents } from './push-servers.ts'
import { startServer, workDirectory } from './run-cli.ts'

const ITEMS = '{"id":1.0}\n{"id":2}\n'
const DATA = '{"page":1,"data":[{"id":1.0},{"id":2}]}'
const FEATURES = '{"type":"FeatureCollection","links":[{}],"features":[{"id":1.0},{"id":2}]}'

describe('items inside a JSON object', () => {
  it('are those of its first array of objects, and the command says which', async (t) => {
    const directory = directoryWith(t, { 'a.json': DATA, 'b.json.gz': gzipSync(DATA) })
    for (const words of ['import a a.json', 'import b b.json.gz', 'import c - --format json']) {
      const { status, stdout, stderr } = await run(directory, words, { input: DATA })
      assert.equal(status, 0)
      assert.match(stdout, /2 items imported/)
      assert.match(stderr, /^reams: .* is an object: the items are those in "data"\. --items can name others\.\n$/)
      assert.equal(await storedLines(directory, words.split(' ')[1] ?? ''), ITEMS)
    }
  })

  it('abort the import if a second array could hold them, and nothing is stored', async (t) => {
    const directory = directoryWith(t, { 'a.json': '{"data":[{"id":1}],\n"included":[{"id":2}]}' })
    await putLines(directory, 'x', ITEMS)
    const reason = 'the items can be in "data" or in "included"; say where, with --items data or --items included'
    const message = `a.json, line 2: ${reason}: \`"included":[{"id":2}]}\`. Nothing was imported.`
    await refused(directory, 'import x a.json --replace', 1, message)
    assert.equal(await storedLines(directory, 'x'), ITEMS)
    await succeeds(directory, 'import x a.json --replace --items included')
    assert.equal(await storedLines(directory, 'x'), '{"id":2}\n')
  })

  it('are the features of a .geojson file', async (t) => {
    const directory = directoryWith(t, { 'a.geojson': FEATURES, 'b.GeoJSON.gz': gzipSync(FEATURES) })
    for (const file of ['a.geojson', 'b.GeoJSON.gz']) {
      await succeeds(directory, `import x ${file} --replace`)
      assert.equal(await storedLines(directory, 'x'), ITEMS)
    }
    // Reams writes no GeoJSON, so the name of an output does not stand for JSON.
    assert.equal((await run(directory, 'export x -o c.geojson')).status, 2)
  })

  it('are served, and pushed', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'a.json'), '{"result":{"rows":[{"id":1}]},"data":[{}]}')
    writeFileSync(join(directory, 'b.geojson'), FEATURES)
    const server = await startServer(t, ['a.json:id', '--items', 'result.rows'], { in: directory })
    assert.equal(await (await server.get('/a/1')).text(), '{"id":1}')
    assert.equal((await push(directory, url, 'b.geojson')).status, 0)
    assert.equal(await stored(), ITEMS)
  })

  it('of standard input need --items or --format, and a single line that may hold them is reported', async (t) => {
    const directory = workDirectory(t)
    const importData = (flags: string) => run(directory, `import x - --replace${flags}`, { input: DATA })
    assert.deepEqual([(await importData(' --items data')).stderr, await storedLines(directory, 'x')], ['', ITEMS])
    const { status, stderr } = await importData('')
    assert.equal(status, 0)
    assert.match(
      stderr,
      /^reams: standard input has one item\. If the items are those in "data", use --items "data"; if not, --format ndjson /,
    )
    assert.equal((await importData(' --format ndjson')).stderr, '')
    assert.equal(await storedLines(directory, 'x'), `${DATA}\n`)
    const input = `{"data":[${'{"a":1},'.repeat(40_000)}{}]}`
    const message = /the item has more than 262,144 bytes, .*; if this line holds all items, use --format json: /
    await refused(directory, 'import x -', 1, message, { input })
  })
})

describe('a file that is read', () => {
  const reading = ['import a', 'serve', 'push http://127.0.0.1:1/a']

  it('is not a spreadsheet, which has to be saved as CSV', async (t) => {
    const directory = directoryWith(t, { 'a.xlsx': 'PK', 'b.ODS': 'PK' })
    const advice = 'is a spreadsheet: save it as CSV, in Excel as "CSV UTF-8", and name that file.'
    for (const command of reading)
      for (const file of ['a.xlsx', 'b.ODS']) await refused(directory, `${command} ${file}`, 2, `${file} ${advice}`)
  })

  it('has the format that a flag is for, and is a file', async (t) => {
    const directory = directoryWith(t, { 'a.ndjson': '{}\n', 'a.csv': 'a\n1\n' })
    const ofCsv = ['--types', '--skip 1', '--decimal comma', '--dates dmy', '--delimiter tab']
    const flags = [...ofCsv.map((flag) => [flag, 'CSV', 'ndjson']), ['--items data', 'JSON', 'csv']]
    for (const [flag = '', right = '', wrong] of flags) {
      const [name] = flag.split(' ')
      const advice = `Leave it out, or add --format ${right.toLowerCase()}.`
      for (const command of reading)
        await refused(
          directory,
          `${command} a.${wrong} ${flag}`,
          2,
          `${name} is for ${right}, and this is ${wrong}. ${advice}`,
        )
      if (flag === '--types' || flag === '--delimiter tab') continue
      const message = `${name} is for files, and --from names a database.`
      await refused(directory, `import a --from shop.db --table a ${flag}`, 2, message)
    }
  })

  it('has fields that one character separates', async (t) => {
    const directory = directoryWith(t, { 'a.csv': 'a\n1\n' })
    const expected = 'expected one character such as , or ; or |, not a letter, digit or quote; or tab.'
    for (const command of reading)
      await refused(directory, `${command} a.csv --delimiter x`, 2, `Invalid --delimiter "x": ${expected}`)
  })
})

describe('the encoding of a file', () => {
  const latin1 = Buffer.from('id;name\n1;Café\n2;x\n', 'latin1')
  const utf16 = Buffer.from('\ufeffid;name\n1;Café\n2;x\n', 'utf16le')
  const items = '{"id":"1","name":"Café"}\n{"id":"2","name":"x"}\n'

  it('is guessed in the error, and the flag that it shows works', async (t) => {
    const directory = directoryWith(t, { 'a.csv': latin1 })
    const reason = 'this is not valid UTF-8; it may be windows-1252: then add --encoding windows-1252'
    const message = `a.csv, line 2: ${reason}: \`1;Caf\\xe9\`. Nothing was imported.`
    await refused(directory, 'import a a.csv', 1, message)
    await succeeds(directory, 'import a a.csv --encoding windows-1252')
    assert.equal(await storedLines(directory, 'a'), items)
  })

  it('follows from a byte order mark, also in gzip, from a pipe and with types', async (t) => {
    const directory = directoryWith(t, { 'b.csv.gz': gzipSync(utf16) })
    await succeeds(directory, 'import b b.csv.gz')
    assert.equal(await storedLines(directory, 'b'), items)
    await succeeds(directory, 'import c - --format csv --types', { input: utf16 })
    assert.equal(await storedLines(directory, 'c'), items.replaceAll(/"(\d)"/g, '$1'))
  })

  it('has to be one that exists', async (t) => {
    const expected = 'an encoding such as windows-1252, iso-8859-2, utf-16le or shift_jis'
    const message = `Invalid --encoding "latin-9": expected ${expected}.`
    await refused(workDirectory(t), 'import a a.csv --encoding latin-9', 2, message)
  })
})

describe('the name of a file', () => {
  const names = {
    'events.ndjson': 'events',
    'My Events.ndjson.gz': 'my-events',
    '/data/2026/Umsätze (alle).csv': 'ums-tze-alle',
    'events.2026.json': 'events.2026',
    '_hidden_.jsonl': 'hidden_',
    '--x--.csv.GZ': 'x',
    'dump.gz': 'dump',
    plain: 'plain',
  }
  for (const [path, name] of Object.entries(names))
    it(`${path} becomes the collection ${name}`, () => assert.equal(collectionNameOfFile(path), name))

  for (const path of ['.ndjson', '---.csv', '数据.json', `${'x'.repeat(65)}.csv`])
    it(`${path} makes no name, and the message says what a name is`, () =>
      assert.throws(() => collectionNameOfFile(path), /No collection can be named after .*1 to 64 of a-z/))

  for (const [first, second, name] of [
    ['a/events.csv', 'b/Events.json', 'events'],
    ['a.csv:id', 'a.csv', 'a'],
  ] as const)
    it(`${first} and ${second} are refused, both named`, () =>
      assert.throws(() => namedFiles([first, 'other.csv', second]), {
        message: `${first.replace(/:.*/, '')} and ${second} would both be the collection "${name}". Rename one of them.`,
      }))

  it('files keep their order', () =>
    assert.deepEqual(
      namedFiles(['b.csv', 'a.csv']).map(({ name }) => name),
      ['b', 'a'],
    ))

  it('FILE:FIELD is a file and its key field, unless there is a file of that name', () => {
    const [file] = namedFiles(['a/events.csv:event id'])
    assert.deepEqual(file, { path: 'a/events.csv', name: 'events', keyField: 'event id' })
    const directory = mkdtempSync(join(tmpdir(), 'reams-name-'))
    const path = join(directory, '10:30.csv')
    writeFileSync(path, '')
    assert.deepEqual(namedFiles([path]), [{ path, name: '10-30', keyField: undefined }])
    rmSync(directory, { recursive: true })
  })

  it('FILE:FIELD can name several fields, and says what is wrong with them', () => {
    assert.equal(namedFiles(['events.csv:tenant,id'])[0]?.keyField, 'tenant,id')
    assert.throws(() => namedFiles(['events.csv:id,']), {
      message: /^Invalid key "id," of events\.csv: a name is empty; expected the name of a field, or several names /,
    })
  })

  const formats = {
    ndjson: ['x.ndjson', 'x.jsonl', 'x.JSONL.gz'],
    json: ['x.json', 'x.v2.json.gz'],
    csv: ['x.csv', 'X.CSV'],
    tsv: ['x.tsv.gz'],
  }
  for (const [format, paths] of Object.entries(formats))
    for (const path of paths) it(`${path} is ${format}`, () => assert.equal(formatOfFile(path), format))

  for (const path of ['x.txt', 'x', 'x.gz', 'json', 'x.json.bz2'])
    it(`${path} tells no format, and the message lists those there are`, () =>
      assert.throws(() => formatOfFile(path), /does not show its format.*\.ndjson, \.jsonl, \.json, \.csv.*--format/))
})
