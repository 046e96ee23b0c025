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
    it('leads where the links of the server lead; the page is in the address, for back, forward, reload and sharing', async (t) => {
      const shown = await visit(t)
      const { page } = shown
      const checkLinks = async (number: number) => {
        const answer = await fetch(`${server().url}/numbers?page=${number}`)
        const { _links: links } = (await answer.json()) as EnvelopeJson
        for (const relation of ['first', 'prev', 'next', 'last']) {
          const link = page.locator(`a[rel=${relation}]`)
          assert.equal(await link.getAttribute('href'), links[relation]?.href ?? null, `${relation} of ${number}`)
        }
      }
      await shown.open('/numbers')
      assert.equal(await shownPage(shown), ' 1')
      await checkLinks(1)
      await page.locator('a[rel=next]').click()
      await page.waitForURL(/page=2$/)
      assert.equal(await shownPage(shown), '?page=2 501')
      await checkLinks(2)
      await page.locator('a[rel=last]').click()
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      await checkLinks(3)
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
      await field.fill('99999999999999999999')
      await field.press('Enter')
      await shown.page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      assert.ok(await field.evaluate((input) => input === document.activeElement))
      await shown.open('/numbers?page=999')
      assert.equal(await shownPage(shown), '?page=999 1,001')
      for (const wrong of ['0', '-1', '1.5', '1e1', 'x']) {
        await field.fill(wrong)
        await field.press('Enter')
        assert.equal(await shown.page.locator('#status').innerText(), 'There are the pages 1 to 3.')
        assert.match(shown.page.url(), /page=999$/)
      }
    })

    it('turns pages by the arrow keys, but not while somebody types, and by a strip that shows the place', async (t) => {
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

      const strip = page.getByRole('slider')
      assert.equal(await strip.inputValue(), '1')
      assert.equal(await strip.getAttribute('aria-valuetext'), 'Page 1, items 1–500')
      const { x, y, width, height } = (await strip.boundingBox()) ?? assert.fail('There is no strip.')
      await page.mouse.click(x + width - 5, y + height / 2)
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      await strip.press('ArrowLeft')
      await page.waitForURL(/page=2$/)
      assert.equal(await shownPage(shown), '?page=2 501')
    })

    it('shows that it waits, and the page that was asked for last, whichever answer comes first', async (t) => {
      const shown = await visit(t)
      const { page } = shown
      await shown.open('/numbers')
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/numbers?page=2', async (route) => {
        await held
        await route.continue().catch(() => {})
      })
      await page.locator('a[rel=next]').click()
      const busy = page.locator('main[aria-busy=true]')
      assert.equal(await busy.evaluate((main) => getComputedStyle(main, '::before').position), 'fixed')
      await page.locator('a[rel=last]').click()
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      release()
      await page.unrouteAll({ behavior: 'wait' })
      assert.equal(await shownPage(shown), '?page=3 1,001')
    })
  })
}
