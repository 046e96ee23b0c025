import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readItems } from '../../src/items/read-items.ts'
import { readAll, refusal } from './read-all.ts'

const ndjson = { format: 'ndjson' } as const
const packed = gzipSync('{"a":1}\n{"b":2}\n')

describe('reading gzip', () => {
  it('unpacks every format, wherever the chunks are cut', async () => {
    const inputs = { ndjson: '{"a":"1"}\n{"a":"2"}\n', json: '[{"a":"1"},{"a":"2"}]', csv: 'a\n1\n2\n' }
    for (const format of ['ndjson', 'json', 'csv'] as const)
      for (const sizes of [[1], [3, 8], [1000]])
        assert.deepEqual((await readAll(gzipSync(inputs[format]), { format }, sizes)).items, ['{"a":"1"}', '{"a":"2"}'])
  })

  it('unpacks one member after the other, and zeros after the last', async () => {
    const two = Buffer.concat([packed, packed, Buffer.alloc(512)])
    const reading = await readAll(two, ndjson, [5])
    assert.deepEqual(reading.items, ['{"a":1}', '{"b":2}', '{"a":1}', '{"b":2}'])
    assert.deepEqual(reading.lines, [1, 2, 3, 4])
  })

  it('gives no items for an empty file that was packed', async () => {
    assert.deepEqual((await readAll(gzipSync(''), ndjson)).items, [])
  })

  it('refuses data that breaks off', async () => {
    for (const length of [2, 10, 20, packed.length - 1]) {
      const [line, reason] = await refusal(packed.subarray(0, length), ndjson)
      assert.equal(line, undefined)
      assert.match(reason, /^the gzip data is truncated/)
    }
  })

  it('refuses data that is damaged or followed by something else', async () => {
    const damaged = Buffer.from(packed)
    damaged[packed.length - 8] = (damaged[packed.length - 8] ?? 0) ^ 1
    assert.match((await refusal(damaged, ndjson))[1], /^the gzip data is damaged/)
    assert.match(
      (await refusal(Buffer.concat([packed, Buffer.from('{"c":3}\n')]), ndjson))[1],
      /^the gzip data is damaged/,
    )
  })

  it('refuses another member behind zeros, which zlib would leave out silently', async () => {
    const hidden = Buffer.concat([packed, Buffer.alloc(4), packed])
    assert.match((await refusal(hidden, ndjson))[1], /something follows its zero padding/)
    const far = Buffer.concat([packed, Buffer.alloc(200_000), packed, Buffer.alloc(200_000)])
    assert.match((await refusal(far, ndjson, [30_000]))[1], /something follows its zero padding/)
  })

  it('names the line in the unpacked text', async () => {
    assert.equal((await refusal(gzipSync('{}\n[1]\n'), ndjson))[0], 2)
  })

  it('passes on an error of the source as it is, and closes a source that is not read to its end', async () => {
    const failure = new Error('the disk is gone')
    let isClosed = false
    const source = async function* (isBroken: boolean): AsyncIterable<Uint8Array> {
      try {
        yield packed
        if (isBroken) throw failure
        yield gzipSync('[1]\n')
        for (let i = 0; i < 1000; i++) yield gzipSync('{}\n'.repeat(1000))
      } finally {
        isClosed = true
      }
    }
    const read = async (isBroken: boolean): Promise<void> => {
      for await (const { run } of readItems(source(isBroken), ndjson)) assert.ok(run.count > 0)
    }
    await assert.rejects(read(true), failure)
    isClosed = false
    await assert.rejects(read(false), { name: 'InputError', line: 3 })
    assert.ok(isClosed)
  })
})
