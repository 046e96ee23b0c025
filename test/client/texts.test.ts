import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { openCollection, type Page } from '../../src/client/index.ts'
import { createService } from '../../src/service/create-service.ts'
import { CorrectServer } from '../check/correct-server.ts'
import { fill, openService, BASE as SERVICE } from '../service/open-service.ts'
import { EVENTS, inProcess } from './hostile-server.ts'

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
const textsOf = (page: Page, first?: number) => Array.from(page.texts(first), decode)

const linesOf = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('')

/** A page around these texts, as they are; `gap` stands around each of them. */
function pageOf(texts: readonly string[], gap = ''): Promise<Page> {
  const links = JSON.stringify({ first: { href: EVENTS }, last: { href: `${EVENTS}?page=1` } })
  const items = texts.map((text) => gap + text + gap).join(',')
  return read(`{"item_count":${texts.length},"_links":${links},"_embedded":{"events":[${items}]}}`)
}

function read(body: string): Promise<Page> {
  return openCollection(EVENTS, { fetch: async () => new Response(body), retry: { retries: 0 } }).page(1)
}

/** What a parser would change. */
const DELICATE = [
  '{"id":12345678901234567890,"amount":1.10,"exponent":1E5,"zero":-0}',
  '{"a":1,"a":2,"__proto__":{"b":null}}',
  '{"text":"naïve ☃ 🦜 \\ud83e\\udd9c \\u2028 \\/ \\" \\\\ ,\\n{[]}"}',
  '{  "blank" :\t[ 1 , 2 ] }',
  '{"nested":{"list":[[],{},[{"a":[true,false,null]}]]}}',
  '{"2028":"\u2028","bom":"\ufeff"}',
  '{}',
]

describe('the text of an item', () => {
  it('is what the service was given, byte for byte', async (t) => {
    const { store } = await openService(t)
    await fill(store, 'events', DELICATE, { keyField: null })
    const page = await openCollection(`${SERVICE}/events`, createService({ store })).page(1)
    assert.deepEqual(textsOf(page), DELICATE)
    assert.equal(decode(page.ndjson()), linesOf(DELICATE))
  })

  it('is what stands between the commas, whatever the layout', async () => {
    for (const gap of ['', ' ', '\n', '\r\n\t  '])
      for (const texts of [DELICATE, [], ['{}'], ['1', '"a"', 'null', '[]', 'true', '-1.5e+3']]) {
        const page = await pageOf(texts, gap)
        assert.deepEqual(textsOf(page), texts)
        assert.deepEqual(page.items, JSON.parse(`[${texts}]`))
        assert.equal(decode(page.ndjson()), linesOf(texts))
      }
  })

  it('is a view of the body, which stays as it came', async () => {
    const page = await pageOf(['{"a":\n1}', '{"b":2}'])
    const before = decode(page.body)
    for (const text of page.texts()) assert.equal(text.buffer, page.body.buffer)
    page.ndjson()
    assert.equal(decode(page.body), before)
  })

  it('can be had from any item on', async () => {
    const page = await pageOf(DELICATE, '\n')
    for (let first = 0; first <= DELICATE.length; first++) {
      assert.deepEqual(textsOf(page, first), DELICATE.slice(first))
      assert.equal(decode(page.ndjson(first)), linesOf(DELICATE.slice(first)))
    }
  })
})

describe('NDJSON of a page', () => {
  it('has one line an item: line breaks between tokens become blanks, and nothing else changes', async () => {
    const server = new CorrectServer({ items: 700, isPretty: true })
    const { fetch } = inProcess(server)
    const page = await openCollection(EVENTS, { fetch }).page(1)
    const lines = decode(page.ndjson()).split('\n')
    assert.equal(lines.pop(), '')
    const found = lines.map((line) => JSON.parse(line))
    assert.deepEqual(found, server.items.slice(0, 500))
    assert.equal(lines[0], '{         "id": 1,         "title": "Event 1"       }')
    const mixed = await pageOf(['{"a":1}', '{"b":\r\n[\n2\r]}', '{"c":"\\n"}'])
    assert.equal(decode(mixed.ndjson()), '{"a":1}\n{"b":  [ 2 ]}\n{"c":"\\n"}\n')
    assert.equal(decode(mixed.ndjson(1)), '{"b":  [ 2 ]}\n{"c":"\\n"}\n')
  })

  it('is the lines that went in, for any items and any layout', async () => {
    const layout = fc.constantFrom(undefined, 1, 2, '\t')
    const property = fc.asyncProperty(fc.array(fc.jsonValue()), layout, async (values, indent) => {
      const page = await pageOf(values.map((value) => JSON.stringify(value, null, indent)))
      const lines = decode(page.ndjson()).split('\n').slice(0, -1)
      assert.deepEqual(JSON.parse(`[${lines}]`), JSON.parse(JSON.stringify(values)))
    })
    await fc.assert(property, { numRuns: 200 })
  })
})

describe('the reader of pages', () => {
  it('takes for JSON exactly what JSON.parse takes', async () => {
    const value = fc.jsonValue().map((value) => JSON.stringify(value))
    const delicate = fc.constantFrom(...DELICATE)
    const noise = fc.constantFrom(...'{}[],:"\\/-+.eEtrufalsn0123456789 \t\n\r\u0000\u001f\u00e9')
    const damaged = fc
      .tuple(fc.oneof(value, delicate), fc.nat(), noise, fc.constantFrom(0, 1))
      .map(([text, place, character, replaced]) => {
        const at = place % (text.length + 1)
        return text.slice(0, at) + character + text.slice(at + replaced)
      })
    const property = fc.asyncProperty(fc.oneof(value, damaged), async (text) => {
      const [outcome] = await Promise.allSettled([pageOf([text])])
      assert.equal(outcome.status === 'fulfilled', isOneValue(text), text)
    })
    await fc.assert(property, { numRuns: 1000 })
  })

  it('takes no number, word, string or bracket that JSON does not have', async () => {
    const wrong =
      '01 1. .5 +1 - -a 1e 1e+ 0x1 NaN Infinity tru nul falsey TRUE "\\x" "\\u12g4" "\\u123" "\t" [1,] [,1] {"a":1,} {,} {"a"} {"a":} {a:1} {1:2} [1 2] {"a" 1} [} {]'
    for (const text of [...wrong.split(' '), '[1 2]', '{"a" 1}', '"\u0000"', "'a'", '1 2', ''])
      await assert.rejects(pageOf([text, '{}']), { name: 'InvalidPage' }, text)
  })
})

/** Whether a text can stand as one item. */
function isOneValue(text: string): boolean {
  try {
    return JSON.parse(`[${text}]`).length === 1
  } catch {
    return false
  }
}
