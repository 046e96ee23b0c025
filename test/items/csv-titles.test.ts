import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readAll, refusal } from './read-all.ts'

const csv = { format: 'csv' } as const

describe('a line "sep=" at the beginning of CSV', () => {
  it('names the delimiter and is no header, with every line end, wherever the chunks are cut', async () => {
    for (const end of ['\n', '\r\n', '\r'])
      for (const line of ['sep=|', 'SEP=|', '"sep=|"', '\ufeffsep=|'])
        for (const sizes of [[1], [5], []]) {
          const { items, lines } = await readAll([line, 'a;b|c', '1;2|3', ''].join(end), csv, sizes)
          assert.deepEqual([items, lines], [['{"a;b":"1;2","c":"3"}'], [3]])
        }
  })

  it('names any character but letters, digits and quotes, and gives way to a delimiter that is given', async () => {
    assert.deepEqual((await readAll('sep=\t\na,b\tc\n1\t2', csv)).items, ['{"a,b":"1","c":"2"}'])
    assert.deepEqual((await readAll('sep=^\na^c\n1^2', csv)).items, ['{"a":"1","c":"2"}'])
    assert.deepEqual((await readAll('sep=;\na,b\n1,2', { ...csv, delimiter: ',' })).items, ['{"a":"1","b":"2"}'])
    assert.deepEqual((await readAll('sep=x\n1\n', csv)).items, ['{"sep=x":"1"}'])
  })

  it('gives no items when nothing follows it', async () => {
    for (const text of ['sep=;', 'sep=;\r\n']) assert.deepEqual((await readAll(text, csv)).items, [])
  })
})

describe('lines above the header of CSV', () => {
  it('are left out where that is asked for, whatever they hold, and still count as lines', async () => {
    for (const end of ['\n', '\r\n', '\r'])
      for (const sizes of [[1], [7], []]) {
        const text = ['Report "2025', ';;;', '', 'a;b', '1;2'].join(end)
        const { items, lines } = await readAll(text, { ...csv, skip: 3 }, sizes)
        assert.deepEqual([items, lines], [['{"a":"1","b":"2"}'], [5]])
        const { error } = await readAll(`${text}${end}3`, { ...csv, skip: 3 }, sizes)
        assert.equal(error?.line, 6)
      }
  })

  it('are counted from the first line of the file, also when that is "sep="', async () => {
    const text = 'sep=;\nReport, of May\na;b,c\n1;2\n'
    for (const sizes of [[1], []])
      assert.deepEqual((await readAll(text, { ...csv, skip: 2 }, sizes)).items, ['{"a":"1","b,c":"2"}'])
    assert.deepEqual((await readAll('sep=;\na;b,c\n1;2\n', { ...csv, skip: 1 })).items, ['{"a":"1","b,c":"2"}'])
  })

  it('cannot be all that there is', async () => {
    for (const text of ['', 'a', 'a\nb\n', 'a\r\nb'])
      assert.deepEqual(await refusal(text, { ...csv, skip: 2 }), [
        undefined,
        'nothing follows the first 2 lines, which --skip leaves out',
        '',
      ])
    assert.deepEqual((await readAll('x\na\n', { ...csv, skip: 1 })).items, [])
  })

  const cases: [what: string, text: string, line: number, skip: number][] = [
    ['one', 'Report\na,b\n1,2\n', 1, 1],
    ['several, blank ones among them', 'Report\n\nby Anna\n\na;b;c\n1;2;3\n', 1, 4],
    ['one in quotes with a line break', '"Report\nof May"\na;b;c\n1;2;3\n', 1, 2],
    ['some that are filled up', 'Report;;;\n;;;\nAnna;2025;;\na;b;c;d\n1;;;\n', 1, 3],
    ['pairs', 'Account;DE12\nFrom;1.5.\n\na;b;c;d\n1;2;3;4\n', 4, 3],
    ['one before decimal commas', 'Report\na;b\n1;2,5\n2;3,5\n', 1, 1],
    ['one with a comma', 'Report, May\n\na;b;c;d\n1;2;3;4\n', 3, 2],
    ['some below "sep="', 'sep=;\nReport\na;b\n1;2\n', 3, 2],
    ['two delimiters', 'Report, May; 2025\na;b;c;d\n1;2;3;4\n', 1, 1],
  ]
  for (const [what, text, line, skip] of cases)
    it(`are refused with the --skip that leaves them out: ${what}`, async () => {
      for (const sizes of [[1], []]) {
        const { error } = await readAll(text, csv, sizes)
        assert.equal(error?.line, line)
        assert.match(error.reason, new RegExp(`; if the header is on line ${skip + 1}, add --skip ${skip}(?:$|;)`))
      }
      assert.equal((await readAll(text, { ...csv, skip })).error, undefined)
    })

  it('are not suspected in a table of one column, nor where a row is just too long', async () => {
    for (const text of ['a\nx; y\nz\n', 'a\n"x, y"\n"z, x"\n', 'a,b\n1,2\n'])
      assert.equal((await readAll(text, csv)).error, undefined)
    const [, reason] = await refusal('a,b\n1,2,3\n1,2,3\n', csv)
    assert.equal(reason, 'the row has 3 fields, the header has 2')
    const [, late] = await refusal(`a\n${'1\n'.repeat(30)}1,2\n3,4\n`, csv)
    assert.equal(late, 'the row has 2 fields, the header has 1')
  })

  it('are told from one column with the delimiter', async () => {
    const text = 'a\nx; y\nz; x\n'
    const [, reason] = await refusal(text, csv)
    assert.match(reason, /^the header has 1 field, rows below it have more; .*; if not, add --delimiter ,$/)
    assert.deepEqual((await readAll(text, { ...csv, delimiter: ',' })).items, ['{"a":"x; y"}', '{"a":"z; x"}'])
  })
})

it('a spreadsheet is refused with what to do, also in pieces', async () => {
  const zip = Uint8Array.from([0x50, 0x4b, 3, 4, 0x14, 0, 6, 0, 0xff, 0xfe])
  for (const sizes of [[1], []]) {
    const reading = []
    for (const skip of [0, 3]) reading.push((await readAll(zip, { ...csv, skip }, sizes)).error?.reason)
    const reason = 'this is a zip file, and no CSV; if it is a spreadsheet (.xlsx), save it as CSV'
    assert.deepEqual(reading, [reason, reason])
  }
})
