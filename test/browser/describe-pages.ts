/** Moving between pages. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EnvelopeJson } from '../service/open-service.ts'
import type { Explorer, Visit } from './open-explorer.ts'

export function describePages({ visit, server }: Explorer): void {
  const shownPage = async ({ page, settled }: Visit): Promise<string> => {
    await settled()
    const first = await page.locator('tbody th').first().innerText()
    return `${new URL(page.url()).search} ${first}`
  }

  describe('the pager', () => {
    it('leads where the links of the server lead', async (t) => {
      const { page, open } = await visit(t)
      for (const number of [1, 2, 3]) {
        await open(`/numbers?page=${number}`)
        const answer = await fetch(`${server().url}/numbers?page=${number}`)
        const { _links: links } = (await answer.json()) as EnvelopeJson
        for (const relation of ['first', 'prev', 'next', 'last']) {
          const link = page.locator(`a[rel=${relation}]`)
          assert.equal(await link.getAttribute('href'), links[relation]?.href ?? null, `${relation} of ${number}`)
        }
      }
    })

    it('puts the page into the address, so that back, forward, reload and a copied address work', async (t) => {
      const shown = await visit(t)
      const { page } = shown
      await shown.open('/numbers')
      assert.equal(await shownPage(shown), ' 1')
      await page.locator('a[rel=next]').click()
      await page.waitForURL(/page=2$/)
      assert.equal(await shownPage(shown), '?page=2 501')
      await page.locator('a[rel=last]').click()
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      await page.goBack()
      assert.equal(await shownPage(shown), '?page=2 501')
      await page.goForward()
      assert.equal(await shownPage(shown), '?page=3 1,001')
      await page.reload()
      assert.equal(await shownPage(shown), '?page=3 1,001')
      assert.equal(await page.title(), 'numbers, page 3 · Reams')
      const other = await visit(t)
      await other.open(page.url())
      assert.equal(await shownPage(other), '?page=3 1,001')
    })

    it('jumps to a page by its number, and to the last one for all beyond it', async (t) => {
      const shown = await visit(t)
      await shown.open('/numbers')
      const field = shown.page.getByLabel('Page', { exact: true })
      await field.fill('2')
      await field.press('Enter')
      await shown.page.waitForURL(/page=2$/)
      assert.equal(await shownPage(shown), '?page=2 501')
      assert.ok(await field.evaluate((input) => input === document.activeElement))
      await field.fill('999')
      await field.press('Enter')
      await shown.page.waitForURL(/page=3$/)
      await shown.open('/numbers?page=999')
      assert.equal(await shownPage(shown), '?page=999 1,001')
      for (const wrong of ['0', '-1', '1.5', 'x']) {
        await field.fill(wrong)
        await field.press('Enter')
        assert.match(shown.page.url(), /page=999$/)
      }
    })

    it('turns pages by the arrow keys, but not while somebody types', async (t) => {
      const shown = await visit(t)
      const { page } = shown
      await shown.open('/numbers')
      await page.keyboard.press('ArrowRight')
      await page.waitForURL(/page=2$/)
      await shown.settled()
      await page.getByLabel('Page', { exact: true }).focus()
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowLeft')
      assert.equal(await shownPage(shown), '?page=2 501')
      await page.locator('h1').focus()
      await page.keyboard.press('ArrowLeft')
      await page.waitForURL(/page=1$/)
      await shown.settled()
      await page.keyboard.press('ArrowLeft')
      assert.equal(await shownPage(shown), '?page=1 1')
    })

    it('has a strip that shows the place in the collection and leads to others', async (t) => {
      const shown = await visit(t)
      const { page } = shown
      await shown.open('/numbers?page=2')
      const strip = page.getByRole('slider')
      assert.equal(await strip.inputValue(), '2')
      assert.equal(await strip.getAttribute('aria-valuetext'), 'Page 2, items 501–1,000')
      const { x, y, width, height } = (await strip.boundingBox()) ?? assert.fail('There is no strip.')
      await page.mouse.click(x + width - 5, y + height / 2)
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      await strip.press('ArrowLeft')
      await page.waitForURL(/page=2$/)
      assert.equal(await shownPage(shown), '?page=2 501')
    })

    it('shows the page that was asked for last, whichever answer comes first', async (t) => {
      const shown = await visit(t)
      const { page } = shown
      await shown.open('/numbers')
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/numbers?page=2', async (route) => {
        await held
        await route.continue().catch(() => {})
      })
      await page.locator('a[rel=next]').click()
      assert.equal(await page.locator('main').getAttribute('aria-busy'), 'true')
      await page.locator('a[rel=last]').click()
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      release()
      await page.unrouteAll({ behavior: 'wait' })
      assert.equal(await shownPage(shown), '?page=3 1,001')
    })
  })
}
