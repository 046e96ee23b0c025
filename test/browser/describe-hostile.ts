/** Hostile items: nothing runs, nothing breaks. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { waitUntil } from '../wait-until.ts'
import { hostileItems } from './hostile-items.ts'
import { csvOf, download, type Explorer, linesOf, overflowOf } from './open-explorer.ts'

/** Elements that do something by being there. */
const ACTIVE = 'main :is(script, img, iframe, style, link, base, meta, object, embed)'

export function describeHostile({ visit }: Explorer): void {
  describe('hostile items', () => {
    it('are text on the screen, and nothing else', async (t) => {
      const { page, open } = await visit(t, '/hostile')
      assert.equal(await page.locator('tbody tr').count(), hostileItems().length)
      assert.equal(await page.locator(ACTIVE).count(), 0)
      assert.deepEqual(await handlersAndLinks(page), [])
      assert.ok((await page.locator('tbody').textContent())?.includes('<script>alert(1)</script>'))
      assert.equal(await page.evaluate(() => Object.hasOwn(Object.prototype, 'isPolluted')), false)
      assert.equal(await page.locator('body').isVisible(), true)
      assert.deepEqual(await overflowOf(page), [])
      const heights = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.clientHeight))
      assert.ok(Math.max(...heights) < 60, `${Math.max(...heights)}`)

      await t.test('can be sorted by a column with an endless name, and back', async () => {
        const head = page.locator('thead th[title^=xxxxx]')
        await head.locator('button').click()
        assert.equal(await head.getAttribute('aria-sort'), 'ascending')
        for (const order of ['descending', null]) {
          // Without the scrolling that a real click brings.
          await head.locator('button').dispatchEvent('click')
          assert.equal(await head.getAttribute('aria-sort'), order)
        }
        assert.deepEqual(await overflowOf(page), [])
        const numbers = hostileItems().map((_, index) => `${index + 1}`)
        await waitUntil(async () => isDeepStrictEqual(await page.locator('tbody th').allTextContents(), numbers))
      })

      await t.test('open one by one, each with all of its text', async () => {
        const shown = await openEach(page)
        for (const [index, item] of hostileItems().entries())
          assert.deepEqual(JSON.parse(shown[index] ?? ''), JSON.parse(item), `item ${index + 1}`)
        assert.ok(shown.every((text) => !/[\u202a-\u202e\u2066-\u2069]/.test(text)))
        assert.equal(await page.locator(ACTIVE).count(), 0)
        assert.deepEqual(await overflowOf(page), [])
      })

      await t.test('unfold, however deep, and do not push the page apart on a phone', async () => {
        const unfolded = await page.evaluate(() => {
          for (const details of document.querySelectorAll<HTMLDetailsElement>('tbody details')) details.open = true
          return [...document.querySelectorAll('tbody details pre')].map((pre) => pre.textContent?.length ?? 0)
        })
        assert.ok(unfolded.length >= 5)
        assert.ok(Math.max(...unfolded) > 10_000)
        assert.deepEqual(await overflowOf(page), [])
        await page.setViewportSize({ width: 360, height: 700 })
        assert.deepEqual(await overflowOf(page), [])
      })

      await t.test('are downloaded byte for byte, and are in CSV what reams pull writes', async () => {
        await page.getByRole('button', { name: 'Download' }).click()
        assert.equal((await download(page, 'NDJSON')).text, linesOf(hostileItems()))
        assert.equal((await download(page, 'CSV')).text, csvOf(hostileItems()))
      })

      await t.test('have pages of their own', async () => {
        for (const key of [4, 31, 41]) {
          await open(`/hostile/${key}`)
          assert.equal(await page.locator(ACTIVE).count(), 0)
          assert.deepEqual(await overflowOf(page), [], `item ${key}`)
        }
      })
    })
  })
}

/** Opens the items, in the page itself: a hundred round trips would take long. */
function openEach(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const texts: string[] = []
    const aside = document.querySelector('aside')
    const table = document.querySelector<HTMLElement>('.scroller')
    // Otherwise the browser would lay it out anew for each item.
    if (table) table.hidden = true
    for (const opener of document.querySelectorAll<HTMLElement>('tbody th > *')) {
      opener.click()
      while (aside?.ariaLabel !== `Item ${opener.textContent}`) await new Promise((resolve) => setTimeout(resolve, 1))
      texts.push(aside.querySelector('pre')?.textContent ?? '')
    }
    if (table) table.hidden = false
    return texts
  })
}

/** What could run: attributes that are code, and links that lead to anything but http. */
function handlersAndLinks(page: Page): Promise<string[]> {
  return page.evaluate(() => [
    ...[...document.querySelectorAll('*')].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith('on')),
    ),
    ...[...document.querySelectorAll('a')].map(({ href }) => href).filter((href) => href && !/^https?:/.test(href)),
  ])
}
