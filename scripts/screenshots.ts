/** Takes the pictures of the explorer that the documentation shows, of the sample: `npm run screenshots`. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { sampleCollections } from '../src/cli/commands/serve/sample.ts'
import { itemRun } from '../src/items/item-run.ts'
import { createService } from '../src/service/create-service.ts'
import { listen } from '../src/service/node/listen.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { launchChromium } from '../test/browser/chromium.ts'

const IMAGES = join(import.meta.dirname, '../docs/images')
/** As a new server says it. */
const BASE_URL = 'http://127.0.0.1:8080'

const SIZES = { desktop: [1280, 640], tablet: [820, 760], phone: [390, 780] } as const
const SCHEMES = ['light', 'dark'] as const

interface Picture {
  readonly name: string
  readonly path: string
  readonly size: readonly [number, number]
  readonly scheme: 'light' | 'dark'
  readonly act?: (page: Page) => Promise<void>
}

const openItem = async (page: Page) => {
  await page.locator('tbody th a').nth(3).click()
  await page.locator('aside h2:focus').waitFor()
}
const openCode = (page: Page) => page.getByRole('button', { name: 'Code' }).click()

const PICTURES: readonly Picture[] = [
  ...Object.entries(SIZES).flatMap(([name, size]) =>
    SCHEMES.map((scheme) => ({ name: `collection-${name}-${scheme}`, path: '/events?page=2', size, scheme })),
  ),
  { name: 'entry-desktop-light', path: '/', size: [1280, 260], scheme: 'light' },
  { name: 'item-desktop-light', path: '/events', size: SIZES.desktop, scheme: 'light', act: openItem },
  { name: 'item-phone-dark', path: '/events', size: SIZES.phone, scheme: 'dark', act: openItem },
  { name: 'code-desktop-dark', path: '/events', size: SIZES.desktop, scheme: 'dark', act: openCode },
]

const folder = await mkdtemp(join(tmpdir(), 'reams-screenshots-'))
const store = await openSqliteStore({ path: join(folder, 'sample.db'), create: true })
const service = createService({ store, baseUrl: BASE_URL })
const { port, close } = await listen({ port: 0, ...service })
const browser = await launchChromium()
try {
  await fillSample()
  for (const picture of PICTURES) await take(browser, picture)
} finally {
  await browser.close()
  await close(0)
  await store.close()
  await rm(folder, { recursive: true })
}

async function fillSample(): Promise<void> {
  for (const { name, keyField, isPaginated, items } of sampleCollections()) {
    await store.create(name, { keyField, isPaginated })
    await store.append(name, itemRun(items, { keyField }))
  }
}

async function take(browser: Browser, { name, path, size, scheme, act }: Picture): Promise<void> {
  const [width, height] = size
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme })
  await page.goto(`http://127.0.0.1:${port}${path}`)
  await act?.(page)
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(IMAGES, `${name}.png`) })
  await page.close()
  console.log(`docs/images/${name}.png`)
}
