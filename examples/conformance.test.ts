// The contract as a test in your own suite: the checker calls the app in the same process, without a socket.
//
//   node --test examples/conformance.test.ts

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { checkConformance } from 'reams/check'

const SIZE = 500
const EVENTS = 'http://localhost/events'
const events = Array.from({ length: 1234 }, (_, index) => ({ id: index + 1, title: `Event ${index + 1}` }))

const app = new Hono()
app.get('/events', (c) => {
  const last = Math.max(1, Math.ceil(events.length / SIZE))
  const page = Math.min(Number(c.req.query('page') ?? 1), last)
  const to = (number: number) => ({ href: `${EVENTS}?page=${number}` })
  return c.json({
    item_count: events.length,
    _links: {
      first: { href: EVENTS },
      ...(page > 1 && { prev: to(page - 1) }),
      ...(page < last && { next: to(page + 1) }),
      last: to(last),
    },
    _embedded: { events: events.slice((page - 1) * SIZE, page * SIZE) },
  })
})

test('the app keeps the contract', async () => {
  const report = await checkConformance(EVENTS, { fetch: app.fetch })
  const broken = report.rules.filter(({ status }) => status === 'fail')
  assert.deepEqual(broken, [])
})
