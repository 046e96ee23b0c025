import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CsvColumns } from '../../src/items/item-text.ts'
import { character, latin1, readAll, refusal } from './read-all.ts'

const csv = { format: 'csv' } as const

describe('reading CSV', () => {
  it('makes an object of strings from every row, fields in the order of the header', async () => {
    const reading = await readAll('b,a,__proto__\n1,,x\n01.10,"q ""quoted"", é",{}\n', csv)
    assert.deepEqual(reading, {
      items: ['{"b":"1","a":"","__proto__":"x"}', '{"b":"01.10","a":"q \\"quoted\\", é","__proto__":"{}"}'],
      lines: [2, 3],
      keys: [],
      counts: [2],
    })
  })

  it('counts lines right with line breaks in quotes, blank lines and every kind of line end', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const rows = ['\ufeffa,b', '', `"1${end}${end}2",3`, '', '  ', '4,5', '6,7']
      const reading = await readAll(rows.join(end), csv, [1])
      assert.deepEqual(reading.lines, [3, 8, 9])
      assert.deepEqual(reading.items[0], `{"a":${JSON.stringify(`1${end}${end}2`)},"b":"3"}`)
    }
  })

  it('takes mixed line ends', async () => {
    const reading = await readAll('a\r\n1\n2\r\n3', csv)
    assert.deepEqual(reading.items, ['{"a":"1"}', '{"a":"2"}', '{"a":"3"}'])
  })

  it('tells an empty value from a blank line', async () => {
    assert.deepEqual((await readAll('a\n\n""\n\n', csv)).items, ['{"a":""}'])
  })

  it('gives no items for a header alone and for an empty file', async () => {
    for (const input of ['', '\n\r\n', '\ufeff', 'a,b', 'a,b\n'])
      assert.deepEqual(await readAll(input, csv), { items: [], lines: [], keys: [], counts: [] })
  })

  it('makes batches of 500 with their keys', async () => {
    const ids = [...Array(1001).keys()].map(String)
    const reading = await readAll(`x,id\n${ids.map((id) => `a,${id}\n`).join('')}`, { ...csv, keyField: 'id' }, [1000])
    assert.deepEqual(reading.counts, [500, 500, 1])
    assert.deepEqual(reading.keys, ids)
  })

  it('refuses rows and headers that do not fit, and says where', async () => {
    const cases: [string, number, string, string][] = [
      ['a,b\n1,2\n\n1,2,3\n4,5', 4, 'the row has 3 fields, the header has 2', '1,2,3'],
      ['a,b\r\n1,2\r\n1', 3, 'the row has 1 field, the header has 2', '1'],
      ['a,,c\n1,2,3\n', 1, 'column 2 of the header is empty; give it a name, or remove it', 'a,,c'],
      ['\na,b, \n', 2, 'column 3 of the header is empty; give it a name, or remove it', 'a,b, '],
      ['\na,b,a\n', 2, 'the header names the field "a" twice', 'a,b,a'],
      ['a\n1\n"x\ny', 3, 'a quote in the row that begins here is never closed', '"x'],
      ['a\n"x"y\n', 2, 'something follows the closing quote of a field; double a quote inside a quoted field', '"x"y'],
      [
        'a\nx"y\n',
        2,
        'a quote is in a field that does not begin with one; put the field in quotes and double the quote',
        'x"y',
      ],
    ]
    for (const [input, ...expected] of cases) assert.deepEqual(await refusal(input, csv), expected, input)
  })

  it('refuses a key that is empty or no column', async () => {
    const options = { ...csv, keyField: 'id' }
    assert.deepEqual(await refusal('id,x\n1,2\n,3\n', options), [3, 'the key field "id" is empty', ',3'])
    assert.deepEqual(await refusal('x\n1\n', options), [2, 'the key field "id" is missing', '1'])
  })

  it('names the line that is not valid UTF-8', async () => {
    const reason = 'this is not valid UTF-8; it may be windows-1252: then add --encoding windows-1252'
    assert.deepEqual(await refusal(latin1('a,b\n1,2\n3,caf\xe9\n'), csv), [3, reason, '3,caf\\xe9'])
    assert.deepEqual(await refusal(latin1('\n\na,caf\xe9\n1,2\n'), csv), [3, reason, 'a,caf\\xe9'])
    assert.deepEqual(await refusal(latin1('x\ncaf\xe9\na\n1\n'), { ...csv, skip: 2 }), [2, reason, 'caf\\xe9'])
  })

  it('refuses an item above the limit, and a row that never ends', async () => {
    const options = { ...csv, itemBytes: 20 }
    assert.equal((await readAll('a\n123456789012\n', options)).items.length, 1)
    assert.match((await refusal('a\n1234567890123\n', options))[1], /^the item has 21 bytes, the limit is 20;/)
    const [line, reason] = await refusal(`a\n1\n"${'x\n'.repeat(100)}`, options)
    assert.equal(line, 3)
    assert.match(reason, /^the item has more than 20 bytes.* or is a quote in this row never closed\?$/)
    assert.match((await refusal(`a\n${','.repeat(100)}`, options))[1], /more than 20 bytes/)
  })

  it('gives back what was written, wherever the chunks are cut', async () => {
    const field = fc.oneof(
      fc.string({ unit: character, maxLength: 8 }),
      fc.constantFrom('', 'é😀', 'a"b', '\r\n', '\n', '\r', ',', '__proto__', '"'),
    )
    const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`
    const name = field.filter((text) => text.trim() !== '')
    const table = fc
      .tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), fc.constantFrom('\n', '\r\n'))
      .chain(([names, end]) =>
        fc.record({
          names: fc.constant(names),
          end: fc.constant(end),
          rows: fc.array(fc.array(field, { minLength: names.length, maxLength: names.length }), { maxLength: 5 }),
        }),
      )
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(table, sizes, async ({ names, end, rows }, chunks) => {
        const text = [names, ...rows].map((row) => row.map(quoted).join(',') + end).join('')
        const expected = rows.map(
          (row) => `{${row.map((value, i) => `${JSON.stringify(names[i])}:${JSON.stringify(value)}`).join(',')}}`,
        )
        // Without it, a NUL character in every second place would be taken for UTF-16.
        const options = { ...csv, encoding: 'utf-8' }
        const reading = await readAll(text, options, chunks)
        assert.equal(reading.error, undefined)
        assert.deepEqual(reading.items, expected)
        assert.deepEqual(reading, await readAll(text, options))
      }),
      { numRuns: 200 },
    )
  })
})

describe('the delimiter of CSV', () => {
  it('is told from the header: a comma, a semicolon, a tab or a pipe, whatever stands in quotes or in rows', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const rows = ['\ufeff', '"a,;\t|,;\t|\n,;|"#b#c', '1#"2,;"#3', '4#5#6'].join('\n').replaceAll('#', delimiter)
      const { items } = await readAll(rows, csv, [1])
      const values = items.map((item) => Object.values(JSON.parse(item)).join(' '))
      assert.deepEqual(values, ['1 2,; 3', '4 5 6'])
    }
  })

  it('is the more frequent of two, and has to be given where that does not decide', async () => {
    assert.deepEqual((await readAll('id;price, gross;x\n1;2,5;3', csv)).items, [
      '{"id":"1","price, gross":"2,5","x":"3"}',
    ])
    const [line, reason] = await refusal('\r\n\nprice, gross;id\n1;2', csv)
    assert.deepEqual(
      [line, reason],
      [3, 'commas or semicolons could separate the fields of the header; say which, with --delimiter'],
    )
    assert.deepEqual((await readAll('price, gross;id\n1;2', { ...csv, delimiter: ';' })).items, [
      '{"price, gross":"1","id":"2"}',
    ])
  })

  it('can be given, and is a tab for TSV, unless the header has none but others', async () => {
    assert.deepEqual((await readAll('a^b\n1^2', { ...csv, delimiter: '^' })).items, ['{"a":"1","b":"2"}'])
    assert.deepEqual((await readAll('a,x\tb\n1\t2', { format: 'tsv' })).items, ['{"a,x":"1","b":"2"}'])
    assert.deepEqual((await readAll('"a;b"\n1', { ...csv, delimiter: ',' })).items, ['{"a;b":"1"}'])
    const reason =
      'the header has no tabs to separate its fields, but semicolons; give the right --delimiter, or put it in quotes if it is one field'
    assert.equal((await refusal('a;b\n1;2', { format: 'tsv' }))[1], reason)
  })

  it('is not looked for in a header that is not UTF-8', async () => {
    assert.match((await refusal(latin1('\na;b,Gr\xf6\xdfe;c\n'), csv))[1], /^this is not valid UTF-8/)
  })

  it('is told right from what we write ourselves', async () => {
    const item = { 'a;b;c': '1;2', 'd|e': 'x\ty', f: 'z' }
    for (const format of ['csv', 'tsv'] as const) {
      const columns = new CsvColumns(Object.keys(item), format === 'tsv' ? '\t' : ',')
      const text = columns.header + columns.row(Buffer.from(JSON.stringify(item)))
      assert.deepEqual((await readAll(text, { format })).items, [JSON.stringify(item)])
    }
  })
})

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
