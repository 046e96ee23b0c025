/** A page of another origin, in a browser. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { listenOn } from '../check/hostile-servers.ts'
import { fill, numbered } from '../service/open-service.ts'
import { startWriteServer } from '../service/write-server.ts'

const NAMES = ['etag', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id']

interface Seen {
  /** `blocked` where the browser refuses. */
  readonly status: number | 'blocked'
  /** The number of items. */
  readonly count?: number
  /** Those of NAMES that the page can see. */
  readonly headers: Readonly<Record<string, string | null>>
}

export function describeCors(browser: () => Browser): void {
  describe('a page of another origin, in a browser', () => {
    it('reads with a token and without, sees headers and refusals, and cannot write', async (t) => {
      const site = createServer((_request, response) => response.end('<!doctype html><title>app</title>'))
      const origin = await listenOn(t, site)
      const rateLimits = { reads: { requests: 5, seconds: 3_600 } }
      const { port, store, tokenOf } = await startWriteServer(t, { corsOrigins: [origin], rateLimits })
      await fill(store, 'events', numbered(1))
      await fill(store, 'secret', numbered(2), { isPrivate: true })
      const reader = await tokenOf(['read:*'])
      const writer = await tokenOf(['admin'])
      const page = await browser().newPage()
      t.after(() => page.close())
      const ask = (path: string, init: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
        page.evaluate(
          async ([url, options, names]): Promise<Seen> => {
            try {
              const response = await fetch(url, { cache: 'no-store', ...options })
              const { status } = response
              const { item_count: count } = status === 200 ? await response.json() : {}
              const headers = Object.fromEntries(names.map((name) => [name, response.headers.get(name)]))
              return { status, count, headers }
            } catch {
              return { status: 'blocked', headers: {} }
            }
          },
          [`http://127.0.0.1:${port}${path}`, init, NAMES] as const,
        )

      await page.goto(origin)
      const open = await ask('/events')
      assert.deepEqual([open.status, open.count], [200, 1])
      assert.match(open.headers['ratelimit'] ?? '', /^"reads";r=4/)
      const unchanged = await ask('/events', { headers: { 'If-None-Match': open.headers['etag'] ?? '' } })
      assert.equal(unchanged.status, 304)
      const hidden = await ask('/secret', { headers: { 'X-Request-Id': 'of-the-page' } })
      assert.deepEqual([hidden.status, hidden.headers['x-request-id']], [404, 'of-the-page'])
      const shown = await ask('/secret', { headers: reader })
      assert.deepEqual([shown.status, shown.count], [200, 2])
      for (let count = 0; count < 4; count++) await ask('/secret', { headers: reader })
      const refused = await ask('/secret', { headers: reader })
      assert.equal(refused.status, 429)
      assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)

      const body = '{"id":9}'
      const json = { ...writer, 'Content-Type': 'application/json' }
      assert.equal((await ask('/events', { method: 'POST', headers: json, body })).status, 'blocked')
      assert.equal((await ask('/events/1', { method: 'DELETE', headers: writer })).status, 'blocked')
      assert.equal((await ask('/events', { method: 'POST', body })).status, 'blocked')
      assert.equal((await store.head('events'))?.live, 1)

      // The same site by another name is another origin, which is not in the list.
      await page.goto(origin.replace('127.0.0.1', 'localhost'))
      assert.equal((await ask('/events')).status, 'blocked')
      assert.equal((await ask('/events', { headers: writer })).status, 'blocked')
    })
  })
}
