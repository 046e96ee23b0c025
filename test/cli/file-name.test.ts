import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { collectionNameOfFile, formatOfFile, namedFiles } from '../../src/cli/files/file-name.ts'

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

  it('two files of one name are refused, both named', () =>
    assert.throws(() => namedFiles(['a/events.csv', 'other.csv', 'b/Events.json']), {
      message: 'a/events.csv and b/Events.json would both be the collection "events". Rename one of them.',
    }))

  it('the same file twice is refused too', () =>
    assert.throws(() => namedFiles(['a.csv:id', 'a.csv']), {
      message: 'a.csv and a.csv would both be the collection "a". Rename one of them.',
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
