import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { latin1, readAll, refusal } from './read-all.ts'

const LINES = ['{"id":1,"name":"Café €"}', '{"id":2,"name":"日本 😀"}']
const CSV = 'id;name\r\n1;Café\r\n2;naïve\r\n'
const ITEMS = ['{"id":"1","name":"Café"}', '{"id":"2","name":"naïve"}']

function utf16(text: string, isBigEndian = false): Buffer {
  const bytes = Buffer.from(text, 'utf16le')
  return isBigEndian ? bytes.swap16() : bytes
}

describe('reading text that is not UTF-8', () => {
  for (const isBigEndian of [false, true])
    it(`reads UTF-16 ${isBigEndian ? 'BE' : 'LE'} with a byte order mark, in every format, in chunks of any size`, async () => {
      const marked = (text: string) => utf16(`\ufeff${text}`, isBigEndian)
      for (const sizes of [[1], [3], [1000]]) {
        const ndjson = await readAll(marked(LINES.join('\n')), { format: 'ndjson', keyField: 'id' }, sizes)
        assert.deepEqual([ndjson.items, ndjson.keys, ndjson.lines], [LINES, ['1', '2'], [1, 2]])
        const json = await readAll(gzipSync(marked(`[\n${LINES.join(',\n')}]`)), { format: 'json' }, sizes)
        assert.deepEqual([json.items, json.lines], [LINES, [2, 3]])
        const csv = await readAll(marked(CSV), { format: 'csv' }, sizes)
        assert.deepEqual([csv.items, csv.lines], [ITEMS, [2, 3]])
      }
    })

  it('reads the encoding that is named, but a byte order mark wins', async () => {
    const options = { format: 'csv', encoding: 'windows-1252' } as const
    assert.deepEqual((await readAll(latin1(CSV), options, [1])).items, ITEMS)
    for (const bytes of [Buffer.from(`\ufeff${CSV}`), utf16(`\ufeff${CSV}`)])
      assert.deepEqual((await readAll(bytes, options)).items, ITEMS)
    assert.deepEqual((await readAll(utf16(CSV), { ...options, encoding: 'utf-16le' })).items, ITEMS)
    assert.deepEqual((await readAll(latin1('a\n\x80\x93\n'), options)).items, ['{"a":"€“"}'])
    const japanese = Uint8Array.from([0x61, 0x0a, 0x93, 0xfa, 0x96, 0x7b, 0x0a])
    assert.deepEqual((await readAll(japanese, { format: 'csv', encoding: 'shift_jis' }, [3])).items, ['{"a":"日本"}'])
  })

  it('names the line and guesses the encoding of what is not UTF-8', async () => {
    const reason = 'this is not valid UTF-8; it may be windows-1252: then add --encoding windows-1252'
    assert.deepEqual(await refusal(latin1(CSV), { format: 'csv' }), [2, reason, '1;Caf\\xe9'])
    const utf16Guess = 'this is not valid UTF-8; it may be utf-16le: then add --encoding utf-16le'
    assert.equal((await refusal(utf16('я;é\n'), { format: 'csv' }))[1], utf16Guess)
    // The second byte of a line feed begins a line.
    const lines = 'имя;x\n1;б\n2;é\n'
    assert.equal((await refusal(utf16(lines), { format: 'csv' }))[1], utf16Guess)
    assert.equal((await refusal(utf16(lines, true), { format: 'csv' }))[1], utf16Guess.replaceAll('16le', '16be'))
  })

  it('recognises UTF-16 without a mark, which would be valid UTF-8 with NUL characters', async () => {
    for (const format of ['ndjson', 'json', 'csv'] as const)
      for (const isBigEndian of [false, true]) {
        const encoding = isBigEndian ? 'utf-16be' : 'utf-16le'
        const reason = `this looks like UTF-16 without a byte order mark; add --encoding ${encoding}`
        assert.deepEqual(await refusal(utf16('[{"a":1}]', isBigEndian), { format }), [1, reason, ''])
      }
  })

  it('refuses UTF-32, whose byte order mark begins as that of UTF-16', async () => {
    const letters = [...'\ufeffa\n1\n'].flatMap((letter) => [letter, '\0'])
    const reason = 'this is UTF-32, which cannot be read; save the file as UTF-8'
    assert.deepEqual(await refusal(utf16(letters.join('')), { format: 'csv' }), [1, reason, ''])
  })

  it('names the line that is not valid in the encoding, wherever the chunks are cut', async () => {
    const reason = (encoding: string) =>
      `this is not valid ${encoding}; the file is damaged, or --encoding has to name another encoding`
    const broken = [
      [Buffer.concat([utf16('\ufeff{"a":1}\n{"b":"é'), Buffer.from([0, 0xd8]), utf16('x"}\n')]), 'utf-16le', '{"b":"é'],
      [Buffer.concat([utf16('\ufeff{"a":1}\n{"b":1}'), Buffer.from([0x0a])]), 'utf-16le', '{"b":1}'],
      [Buffer.from([...Buffer.from('{"a":1}\n{"b":"'), 0x93, 0xfa, 0x80, 0x22, 0x7d]), 'shift_jis', '{"b":"日'],
    ] as const
    for (const [bytes, encoding, text] of broken)
      for (const sizes of [[1], [5], [1000]]) {
        const { items, error } = await readAll(bytes, { format: 'ndjson', encoding }, sizes)
        assert.deepEqual([items, error?.line, error?.reason], [[], 2, reason(encoding)])
        assert.ok(error?.text.startsWith(text), error?.text)
      }
  })

  it('reads every encoding in blocks as TextDecoder reads it as a whole', async () => {
    const encodings = ['windows-1252', 'iso-8859-2', 'koi8-r', 'gb18030', 'big5', 'euc-kr', 'shift_jis', 'iso-2022-jp']
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 })
    // No quotes, delimiters or line breaks: the bytes are one field of CSV.
    const byte = fc.integer({ min: 0x30, max: 0xff })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...encodings), fc.array(byte), sizes, async (encoding, bytes, chunks) => {
        const { items, error } = await readAll(
          Uint8Array.from([0x61, 0x0a, ...bytes]),
          { format: 'csv', encoding, delimiter: ',' },
          chunks,
        )
        let whole: string | undefined
        try {
          whole = new TextDecoder(encoding, { fatal: true }).decode(Uint8Array.from(bytes))
        } catch {
          // Then it has to be refused.
        }
        assert.equal(error === undefined, whole !== undefined)
        if (whole?.trim()) assert.equal(JSON.parse(items[0] ?? '{}').a, whole)
      }),
      { numRuns: 300 },
    )
  })
})
