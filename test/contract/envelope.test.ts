import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENVELOPE_TAIL, ITEM_SEPARATOR, pageEnvelopeHead, wholeEnvelopeHead } from '../../src/contract/envelope.ts'

const BASE = 'http://127.0.0.1:8080'

test('head, items and tail of a page are one JSON document, each item on a line of its own (C1, C2, D6, D9)', () => {
  const text = pageEnvelopeHead(BASE, 'events', 1, 2) + ['{"id":1}', '{"id":2}'].join(ITEM_SEPARATOR) + ENVELOPE_TAIL
  const [self, first] = [{ href: `${BASE}/events?page=1` }, { href: `${BASE}/events` }]
  const expected = { item_count: 2, _links: { self, first, last: self }, _embedded: { events: [{ id: 1 }, { id: 2 }] } }
  assert.partialDeepStrictEqual(JSON.parse(text), expected)
  assert.deepEqual(text.split('\n').slice(1, 3), ['{"id":1},', '{"id":2}'])
})

test('without items the array is empty (D5)', () => {
  const text = pageEnvelopeHead(BASE, 'events', 1, 0) + ENVELOPE_TAIL
  assert.deepEqual(JSON.parse(text)._embedded, { events: [] })
})

test('an unpaginated collection has neither item_count nor page links (D10)', () => {
  const text = `${wholeEnvelopeHead(BASE, 'venues')}{"id":1}${ENVELOPE_TAIL}`
  const { item_count, _links, _embedded } = JSON.parse(text)
  assert.deepEqual([item_count, _embedded], [undefined, { venues: [{ id: 1 }] }])
  assert.deepEqual(_links.self, { href: `${BASE}/venues` })
  for (const relation of ['first', 'prev', 'next', 'last']) assert.ok(!(relation in _links), relation)
})
