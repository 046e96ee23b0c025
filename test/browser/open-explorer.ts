/** A service with collections to look at, and visits to it in a real browser that take note of everything suspicious. */

import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createService, type ServiceOptions } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import type { Store } from '../../src/store/store.ts'
import { fill, numbered } from '../service/open-service.ts'
import { openTestStore } from '../store/test-store.ts'
import { hostileItems } from './hostile-items.ts'

export interface ExplorerServer {
  readonly store: Store
  readonly port: number
  readonly url: string
  /** The text of every item of `events`, as it was written. */
  readonly events: readonly string[]
  /** May read everything. */
  readonly token: string
  readonly close: () => Promise<void>
}

export interface Visit {
  readonly page: Page
  /** Opens a path of the server, or a whole URL, and waits until the script has shown it. */
  readonly open: (target: string) => Promise<void>
  /** Until what was asked for is on the screen. */
  readonly settled: () => Promise<void>
  /** What should not have happened so far. Asserted to be nothing at the end of the test. */
  readonly troubles: string[]
}

export interface VisitOptions extends BrowserContextOptions {
  /** Errors of the console that this test brings about. */
  readonly expected?: RegExp
}

/** What the suites are given: a server that all of them share, and visits to it. */
export interface Explorer {
  readonly server: () => ExplorerServer
  readonly browser: () => Browser
  readonly visit: (t: TestContext, options?: VisitOptions) => Promise<Visit>
}

export const EVENT_COUNT = 1234

export async function startExplorerServer(options: Partial<ServiceOptions> = {}): Promise<ExplorerServer> {
  const { store, remove } = await openTestStore()
  const events = Array.from({ length: EVENT_COUNT }, (_, index) => eventText(index + 1))
  await fill(store, 'events', events)
  await fill(store, 'numbers', numbered(EVENT_COUNT))
  await fill(store, 'venues', ['{"id":"hall","seats":120}', '{"id":"room","seats":30}'], { isPaginated: false })
  await fill(store, 'keyless', numbered(3), { keyField: null })
  await fill(store, 'secrets', numbered(2), { isPrivate: true })
  await fill(store, 'nothing-yet', [])
  await fill(store, 'hostile', hostileItems())
  await fill(store, 'turned', ['{"\u202eyek":1}'], { keyField: '\u202eyek' })
  let service: ReturnType<typeof createService> | undefined
  const ready = () => service ?? assert.fail('The service answers when its port is known.')
  const listening = await listen({
    port: 0,
    reply: (request) => ready().reply(request),
  })
  const { port } = listening
  service = createService({ store, ...(options.baseUrl === undefined && { loopbackPort: port }), ...options })
  const close = async () => {
    await listening.close(0)
    await remove()
  }
  return { store, port, url: `http://127.0.0.1:${port}`, events, token: await newToken(store), close }
}

/** Numbers that no JavaScript number holds, and a value of every kind. */
function eventText(id: number): string {
  const day = new Date(Date.UTC(2026, 0, id)).toISOString().slice(0, 10)
  return `{"id":${id},"title":"Event, \\"no. ${id}\\"","starts":"${day}T20:00:00Z","kind":"${['concert', 'film', 'talk'][id % 3]}","price":${id % 40}.10,"free":${id % 7 === 0},"site":"https://example.com/events/${id}","serial":1234567890123456${1000 + id},"place":{"hall":"A${id % 5}","rows":[1,2,{"deep":null}]},"note":null}`
}

async function newToken(store: Store): Promise<string> {
  const token = `reams_${randomBytes(32).toString('base64url')}`
  const record = { hash: hash('sha256', token, 'hex'), createdAt: 0, expiresAt: null, revokedAt: null }
  await store.addToken({ name: 'reader', scopes: ['read:*'], ...record })
  return token
}

export async function visit(
  t: TestContext,
  browser: Browser,
  { url }: Pick<ExplorerServer, 'url'>,
  { expected, ...options }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const troubles: string[] = []
  const note = (trouble: string) => expected?.test(trouble) || troubles.push(trouble)
  page.on('console', (message) => message.type() === 'error' && note(message.text()))
  page.on('pageerror', (error) => note(String(error.stack)))
  page.on('dialog', (dialog) => {
    note(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(page.url()).origin && origin !== new URL(url).origin)
      note(`a request to ${request.url()}`)
  })
  const settled = async () => {
    await page.waitForFunction(() => document.getElementById('status') && !document.querySelector('[aria-busy]'))
  }
  const open = async (target: string) => {
    await page.goto(target.startsWith('/') ? url + target : target)
    if (options.javaScriptEnabled !== false) await settled()
  }
  t.after(async () => {
    await context.close()
    assert.deepEqual(troubles, [])
  })
  return { page, open, settled, troubles }
}

/** What goes beyond the window to the right, scrollers and what stands in them aside. */
export function overflowOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isClipped = (element: Element) => element.parentElement?.closest('.scroller, pre, td, nav') != null
    const wide = [...document.querySelectorAll('body, body *')].filter(
      (element) => element.getBoundingClientRect().right > window.innerWidth + 1 && !isClipped(element),
    )
    const isScrollable = document.documentElement.scrollWidth > window.innerWidth
    return [...wide.map(({ tagName, className }) => `${tagName}.${className}`), ...(isScrollable ? ['the page'] : [])]
  })
}
