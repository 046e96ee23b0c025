/** A service with collections to look at, and visits to it in a real browser that take note of everything suspicious. */

import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { CsvColumns } from '../../src/items/item-text.ts'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import type { Store } from '../../src/store/store.ts'
import { mirror } from '../service/altered-store.ts'
import { fill, numbered } from '../service/open-service.ts'
import { openTestStore } from '../store/test-store.ts'
import { hostileItems } from './hostile-items.ts'

export interface ExplorerServer {
  readonly store: Store
  readonly url: string
  /** The text of every item of `events`, as it was written. */
  readonly events: readonly string[]
  /** May read everything. */
  readonly token: string
  readonly close: () => Promise<void>
}

export interface Visit {
  readonly page: Page
  /** Opens a path of the server, or a whole URL. */
  readonly open: (target: string) => Promise<void>
  /** Waits until what was asked for is on the screen. */
  readonly settled: () => Promise<void>
  /** Waits for an address, and its page. */
  readonly arrive: (url: string | RegExp) => Promise<void>
  /** The addresses that scripts have asked for since the visit began. */
  readonly asked: () => readonly string[]
}

/**
 * Opens a path. `expected`: errors of the console that the test brings about. All others make it fail, and so do dialogs and
 * requests to others.
 */
export type Visitor = (t: TestContext, path?: string, expected?: RegExp) => Promise<Visit>

/** What the suites are given: a server and a tab that all of them share. */
export interface Explorer {
  readonly server: () => ExplorerServer
  readonly browser: () => Browser
  readonly visit: Visitor
}

/** The last page of `events` has 100 items: a browser takes a second to lay out 500 of them. */
const EVENT_COUNT = 1100

export async function startExplorerServer(): Promise<ExplorerServer> {
  const { store, remove } = await openTestStore()
  const events = Array.from({ length: EVENT_COUNT }, (_, index) => eventText(index + 1))
  await fill(store, 'events', events)
  await fill(store, 'numbers', numbered(1234))
  await fill(store, 'venues', ['{"id":"hall","seats":120}', '{"id":"room","seats":30}'], { isPaginated: false })
  await fill(store, 'keyless', numbered(3), { keyField: null })
  await fill(store, 'secrets', numbered(2), { isPrivate: true })
  await fill(store, 'nothing-yet', [])
  await fillMirror(store)
  await fill(store, 'wide', WIDE, { keyField: 'code' })
  await fill(store, 'hostile', hostileItems())
  let service: ReturnType<typeof createService> | undefined
  const ready = () => service ?? assert.fail('The service answers when its port is known.')
  const listening = await listen({
    port: 0,
    reply: (request) => ready().reply(request),
  })
  const { port } = listening
  service = createService({ store, loopbackPort: port })
  const close = async () => {
    await listening.close(0)
    await remove()
  }
  return { store, url: `http://127.0.0.1:${port}`, events, token: await newToken(store), close }
}

/** As of two hours ago. */
async function fillMirror(store: Store): Promise<void> {
  const url = 'https://origin.example/mirrored'
  await fill(store, 'mirrored', [])
  await mirror(store, 'mirrored', url, numbered(3))
  const at = Date.now() - 7_300_000
  await store.noteFollowing('mirrored', { source: url, waiting: 0, asOf: at, seenAt: at })
}

/** The key is not the first field, objects come before it, and some fields are empty or missing. */
const WIDE = [
  '{"about":{"name":"Hall","size":{"rows":12}},"note":"far too long to stand in a cell that is always in sight","serial":12345678901234567892,"seen":"2026-01-02","mixed":"a","code":"k1"}',
  '{"about":{"name":"Room"},"note":"short","serial":-5,"seen":"2026-01-02T08:00:00+02:00","mixed":null,"code":"k2"}',
  '{"about":{},"note":"short","serial":12345678901234567891,"seen":"2025-12-31","code":"k3"}',
  `{"about":{"long":"${'word '.repeat(60)}"},"note":"short","seen":null,"mixed":"","code":"k4"}`,
  '{"about":{},"note":"short","mixed":"b","code":"k5"}',
]

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

const VIEWPORT = { width: 1280, height: 800 }

/** One tab for all visits: opening one takes longer than most tests. */
export async function openTab(
  browser: Browser,
  { url }: Pick<ExplorerServer, 'url'>,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const permissions = ['clipboard-read', 'clipboard-write']
  const context = await browser.newContext({ viewport: VIEWPORT, permissions, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  let troubles: string[] = []
  let asked: string[] = []
  let opened = new URL(url)
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()))
  page.on('pageerror', (error) => troubles.push(String(error.stack)))
  page.on('dialog', (dialog) => {
    troubles.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== opened.origin) troubles.push(`a request to ${request.url()}`)
    if (/xhr|fetch/.test(request.resourceType())) asked.push(request.url())
  })
  const settled = async () => {
    await page.waitForFunction(() => !document.querySelector('[aria-busy]'))
  }
  const open = async (target: string) => {
    opened = new URL(target, url)
    await page.goto(opened.href)
  }
  const arrive = async (target: string | RegExp) => {
    await page.waitForURL(target)
    await settled()
  }
  return async (t, path, expected) => {
    troubles = []
    asked = []
    await page.setViewportSize(VIEWPORT)
    t.after(() => {
      const wrong = troubles.filter((trouble) => !expected?.test(trouble))
      assert.deepEqual(wrong, [])
    })
    if (path !== undefined) await open(path)
    return { page, open, settled, arrive, asked: () => asked }
  }
}

/** What a download has to hold: the lines of the items, … */
export function linesOf(items: readonly string[]): string {
  return items.map((item) => `${item}\n`).join('')
}

/** … or what `reams pull` writes as CSV. */
export function csvOf(items: readonly string[]): string {
  const texts = items.map((item) => Buffer.from(item))
  const columns = new CsvColumns()
  for (const text of texts) columns.addFields(text)
  // As UTF-8, which has no half characters.
  return Buffer.from(columns.header + texts.map((text) => columns.row(text)).join('')).toString()
}

/** The text of the file that a button downloads. */
export async function download(page: Page, form: 'NDJSON' | 'CSV'): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: form, exact: true }).click()
  const file = await coming
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
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
