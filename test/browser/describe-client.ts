/** The client in a real browser, against a server that does its worst, and an origin that must never hear of the token. */

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { bundleClient } from '../../scripts/client-size.ts'
import { type Handler, serve } from '../check/hostile-servers.ts'

type Attack = (response: ServerResponse, request: IncomingMessage) => void

const ALLOW = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }

/** A page of three items, with other links. */
function pageWith(links: object): string {
  const items = [1, 2, 3].map((id) => ({ id }))
  const own = { self: { href: '/events' }, first: { href: '/events?page=1' }, last: { href: '/events?page=1' } }
  return JSON.stringify({ item_count: 3, _links: { ...own, ...links }, _embedded: { events: items } })
}

function json(text: string): Attack {
  return (response) => response.writeHead(200, { 'Content-Type': 'application/hal+json' }).end(text)
}

function redirect(target: string): Attack {
  return (response) => response.writeHead(302, { Location: target }).end()
}

export function describeClient(browser: () => Browser): void {
  describe('the client in a browser', () => {
    it('fails within its limits, whatever a server sends, and sends nothing to another origin', async (t) => {
      const other = await serve(t, (_request, response) => response.writeHead(200, ALLOW).end('{}'))
      const attacks: Readonly<Record<string, readonly [error: string, attack: Attack]>> = {
        'link-other': ['ForbiddenOrigin', json(pageWith({ first: { href: `${other.origin}/events?page=1` } }))],
        'link-script': ['ForbiddenOrigin', json(pageWith({ first: { href: 'javascript:globalThis.isHit=1' } }))],
        'link-blob': ['ForbiddenOrigin', json(pageWith({ last: { href: 'blob:http://127.0.0.1/0?page=1' } }))],
        'redirect-other': ['ForbiddenOrigin', redirect(`${other.origin}/events`)],
        'redirect-script': ['ForbiddenOrigin', redirect('javascript:globalThis.isHit=1')],
        'redirect-data': ['ForbiddenOrigin', redirect('data:application/json,{}')],
        deep: [
          'InvalidPage',
          json(`{"item_count":1,"_links":{},"_embedded":{"e":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}}`),
        ],
        large: [
          'PageTooLarge',
          (response) => {
            const piece = ' '.repeat(65_536)
            const write = (): void => {
              while (!response.destroyed && response.write(piece));
            }
            response.writeHead(200, { 'Content-Type': 'application/json' }).on('drain', write)
            write()
          },
        ],
        bomb: [
          'PageTooLarge',
          (response) => {
            response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
            response.end(gzipSync(' '.repeat(5_000_000)))
          },
        ],
        drip: [
          'TimeoutError',
          (response) => {
            const drip = setInterval(() => response.write(' '), 20)
            response.writeHead(200).on('close', () => clearInterval(drip))
          },
        ],
        cut: [
          'ConnectionLost',
          (response) => {
            response.writeHead(200, { 'Content-Length': '1000' }).write('{"item_count":')
            setTimeout(() => response.destroy(), 50)
          },
        ],
        later: ['HttpError', (response) => response.writeHead(429, { 'Retry-After': '99999999999' }).end()],
        unasked: ['HttpError', (response) => response.writeHead(304).end()],
      }
      const handler: Handler = (request, response, answerRight) => {
        const { pathname } = new URL(request.url ?? '/', 'http://a')
        if (pathname === '/')
          response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>app</title>')
        else if (pathname === '/proto') {
          const item = '{"id":1,"__proto__":{"isHit":1},"constructor":{"prototype":{"isHit":1}}}'
          const links = '{"first":{"href":"?page=1"},"last":{"href":"?page=1"},"__proto__":{"next":{"href":"?page=2"}}}'
          json(`{"item_count":1,"_links":${links},"_embedded":{"__proto__":[${item}]},"__proto__":{"isHit":1}}`)(
            response,
            request,
          )
        } else {
          const [, attack] = attacks[pathname.slice(1)] ?? []
          if (attack === undefined) answerRight()
          else attack(response, request)
        }
      }
      const { origin, seen } = await serve(t, handler, { items: 1001 })
      const page = await browser().newPage()
      t.after(() => page.close())
      await page.goto(origin)
      await page.addScriptTag({ content: new TextDecoder().decode(await bundleClient('iife')) })
      /** The number of items, or the name of the error. */
      const read = (path: string) =>
        page.evaluate(
          async ([url, timeoutMs]) => {
            const { openCollection } = (globalThis as unknown as { reams: typeof import('../../src/client/index.ts') })
              .reams
            const options = {
              token: 'reams_secret',
              headers: { 'X-Api-Key': 'secret' },
              timeoutMs,
              pageBytes: 3_000_000,
            }
            try {
              let items = 0
              for await (const _ of openCollection(url, { ...options, retry: { retries: 0 } }).items()) items++
              return items
            } catch (error) {
              return (error as Error).name
            }
          },
          [origin + path, path === '/drip' ? 300 : 20_000] as const,
        )
      assert.equal(await read('/events'), 1001)
      assert.equal(await read('/proto'), 1)
      for (const [name, [error]] of Object.entries(attacks)) assert.equal(await read(`/${name}`), error, name)
      assert.equal(await page.evaluate('({}).isHit ?? globalThis.isHit'), undefined)
      assert.ok(seen.filter(({ headers }) => headers.authorization === 'Bearer reams_secret').length > 0)
      assert.deepEqual(other.seen, [])
    })
  })
}
