import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { fill, numbered } from '../service/open-service.ts'
import { startWriteServer } from '../service/write-server.ts'
import { isUnwanted, launchChromium } from './chromium.ts'

const NAMES = ['etag', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id']

describe('a page of another origin, in a browser', { skip: isUnwanted() && 'REAMS_TEST_CHROMIUM is none' }, () => {
  it('reads with a token and without, sees headers and refusals, and cannot write', async (t) => {
    const site = createServer((_request, response) => response.end('<!doctype html><title>app</title>')).listen(0)
    await once(site, 'listening')
    t.after(() => site.close())
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    const rateLimits = { reads: { requests: 5, seconds: 3_600 } }
    const { port, store, tokenOf } = await startWriteServer(t, { corsOrigins: [origin], rateLimits })
    await fill(store, 'events', numbered(1))
    await fill(store, 'secret', numbered(2), { isPrivate: true })
    const reader = await tokenOf(['read:*'])
    const writer = await tokenOf(['admin'])
    const browser = await launchChromium()
    t.after(() => browser.close())
    const page = await browser.newPage()
    const api = `http://127.0.0.1:${port}`
    /** The status, the headers that the page can see, and the number of items; `blocked` where the browser refuses. */
    const ask = (path: string, init: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
      page.evaluate(
        async ([url, options, names]) => {
          try {
            const answer = await fetch(url, { cache: 'no-store', ...options })
            const body = answer.status === 200 ? await answer.json() : {}
            const headers = Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]))
            return { status: answer.status, count: body.item_count, headers }
          } catch {
            return 'blocked'
          }
        },
        [api + path, init, NAMES] as const,
      )

    await page.goto(origin)
    const open = await ask('/events')
    assert.ok(typeof open === 'object')
    assert.equal(`${open.status} ${open.count} ${open.headers['ratelimit']?.slice(0, 11)}`, '200 1 "reads";r=4')
    const unchanged = await ask('/events', { headers: { 'If-None-Match': open.headers['etag'] ?? '' } })
    assert.ok(typeof unchanged === 'object')
    assert.equal(unchanged.status, 304)
    const hidden = await ask('/secret', { headers: { 'X-Request-Id': 'of-the-page' } })
    assert.ok(typeof hidden === 'object')
    assert.equal(`${hidden.status} ${hidden.headers['x-request-id']}`, '404 of-the-page')
    const shown = await ask('/secret', { headers: reader })
    assert.ok(typeof shown === 'object')
    assert.equal(`${shown.status} ${shown.count}`, '200 2')
    for (let count = 0; count < 4; count++) await ask('/secret', { headers: reader })
    const refused = await ask('/secret', { headers: reader })
    assert.ok(typeof refused === 'object')
    assert.equal(refused.status, 429)
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)

    const body = '{"id":9}'
    const json = { ...writer, 'Content-Type': 'application/json' }
    assert.equal(await ask('/events', { method: 'POST', headers: json, body }), 'blocked')
    assert.equal(await ask('/events/1', { method: 'DELETE', headers: writer }), 'blocked')
    assert.equal(await ask('/events', { method: 'POST', body }), 'blocked')
    assert.equal((await store.head('events'))?.live, 1)

    // The same site by another name is another origin, which is not in the list.
    await page.goto(origin.replace('127.0.0.1', 'localhost'))
    assert.equal(await ask('/events'), 'blocked')
    assert.equal(await ask('/events', { headers: writer }), 'blocked')
  })
})
