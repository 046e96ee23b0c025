/** Moving between pages, and what is shown where there is none. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import type { Explorer, Visit } from './open-explorer.ts'
import { openTab } from './open-explorer.ts'

const firstRank = ({ page }: Visit) => page.locator('tbody th').first().innerText()

async function shownPage(shown: Visit): Promise<string> {
  await shown.settled()
  return `${new URL(shown.page.url()).search} ${await firstRank(shown)}`
}

/** Requests for this page wait until they are released. */
export async function hold({ page }: Visit, pattern: string): Promise<() => Promise<void>> {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  await page.route(pattern, async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  return async () => {
    release()
    await page.unrouteAll({ behavior: 'wait' })
  }
}

export function describePages({ visit, server, browser }: Explorer): void {
  describe('the pager', () => {
    it('leads where the links lead; the page is in the address, for back, forward and reload', async (t) => {
      const shown = await visit(t, '/numbers')
      const { page, asked } = shown
      assert.equal(await shownPage(shown), ' 1')
      assert.deepEqual(asked(), [], 'What the server rendered is not fetched again.')
      await page.locator('a[rel=next]').click()
      await page.waitForURL(/page=2$/)
      assert.equal(await shownPage(shown), '?page=2 501')
      assert.deepEqual(asked(), [`${server().url}/numbers?page=2`])
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
    })

    it('jumps to a page by its number, and to the last one for all beyond it', async (t) => {
      const shown = await visit(t, '/numbers')
      const field = shown.page.getByLabel('Page', { exact: true })
      await field.fill('99999999999999999999')
      await field.press('Enter')
      await shown.page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      assert.ok(await field.evaluate((input) => input === document.activeElement))
      for (const wrong of ['0', '-1', '1.5', '1e1', 'x', '']) {
        await field.fill(wrong)
        await field.press('Enter')
        assert.equal(await field.evaluate((input: HTMLInputElement) => input.validity.valid), false)
        assert.match(shown.page.url(), /page=3$/)
      }
      await field.fill('abc')
      await field.press('Enter')
      await shown.page.getByText('“abc” is not a page number. Enter a number from 1 to 3.').waitFor()
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      await field.fill('2')
      assert.equal(await field.getAttribute('aria-invalid'), null)
    })

    it('turns pages by the arrow keys, but not while somebody types, and by a strip that shows the place', async (t) => {
      const shown = await visit(t, '/numbers')
      const { page } = shown
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
      assert.equal(await strip.getAttribute('aria-valuetext'), 'Page 1, items 1–500')
      const { x, y, width, height } = (await strip.boundingBox()) ?? assert.fail('There is no strip.')
      await page.mouse.move(x + 10, y + height / 2)
      await page.mouse.down()
      await page.mouse.move(x + width - 5, y + height / 2)
      assert.equal(await page.locator('output').innerText(), 'items 1,001–1,234')
      await page.mouse.up()
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      await strip.press('ArrowLeft')
      await page.waitForURL(/page=2$/)
      assert.equal(await shownPage(shown), '?page=2 501')
    })

    it('shows that it waits, and the page that was asked for last, whichever answer comes first', async (t) => {
      const shown = await visit(t, '/numbers')
      const { page } = shown
      const release = await hold(shown, '**/numbers?page=2')
      await page.locator('a[rel=next]').click()
      const busy = page.locator('main[aria-busy]')
      await busy.waitFor()
      assert.equal(await firstRank(shown), '1')
      assert.equal(await busy.evaluate((main) => getComputedStyle(main, '::before').position), 'fixed')
      await page.locator('a[rel=last]').click()
      await page.waitForURL(/page=3$/)
      assert.equal(await shownPage(shown), '?page=3 1,001')
      await release()
      assert.equal(await shownPage(shown), '?page=3 1,001')
    })
  })

  it('of a mirror it says how long ago it was as its origin, also on pages that the script fetched', async (t) => {
    const shown = await visit(t, '/')
    const { page } = shown
    const line = 'https://origin.example/mirrored, 0 versions behind, as of 2 h ago, last report 2 h ago'
    assert.equal(await page.locator('tr', { hasText: 'origin.example' }).locator('td').last().innerText(), line)
    await page.getByRole('link', { name: 'mirrored', exact: true }).click()
    await page.waitForURL(/mirrored$/)
    await shown.settled()
    assert.equal(await page.getByText('Mirror of').innerText(), `Mirror of ${line}`)
    assert.match((await page.locator('time.ago').first().getAttribute('title')) ?? '', /^20\d\d-.* UTC$/)
    await page
      .locator('time.ago')
      .first()
      .evaluate((time) => time.setAttribute('datetime', new Date().toISOString()))
    await page.getByText(/as of [0-9] s ago/).waitFor()
  })

  describe('where there is no page', () => {
    it('the problem is told: a server that fails, being offline, which ends by itself, and a missing item', async (t) => {
      const shown = await visit(t, '/numbers', /status of (404|502)|ERR_INTERNET_DISCONNECTED/)
      const { page, settled } = shown
      await page.route('**/numbers?page=2', (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }))
      await page.locator('a[rel=next]').click()
      await page.getByRole('heading', { name: 'The server answered with status 502' }).waitFor()
      await page.unrouteAll()
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.locator('tbody tr').first().waitFor()
      await settled()
      assert.equal(await firstRank(shown), '501')

      await page.context().setOffline(true)
      await page.locator('a[rel=next]').click()
      await page.getByRole('heading', { name: 'You are offline' }).waitFor()
      await page.context().setOffline(false)
      await page.locator('tbody tr').first().waitFor()
      assert.equal(await shownPage(shown), '?page=3 1,001')

      await page.evaluate(() => document.querySelector('tbody th a')?.setAttribute('href', '/numbers/none'))
      await page.locator('tbody th a').first().click()
      await page.getByText('This item cannot be shown. The server answered with status 404.').waitFor()
      assert.equal(await page.locator('aside').isVisible(), false)
    })

    it('and also where the server is gone', async (t) => {
      const { port, close } = await listen({ port: 0, ...createService({ store: server().store }) })
      t.after(() => close(0))
      const { page } = await visit(t, `http://127.0.0.1:${port}/venues`, /ERR_CONNECTION_REFUSED/)
      await close(0)
      await page.getByRole('link', { name: 'Collections' }).click()
      await page.getByRole('heading', { name: 'The server does not answer' }).waitFor()
      await page.getByText(`You asked for http://127.0.0.1:${port}/`, { exact: true }).waitFor()
      assert.ok(await page.getByRole('button', { name: 'Try again' }).isVisible())
    })
  })

  it('the service can have a path, and another name than it knows', async (t) => {
    const service = createService({ store: server().store, baseUrl: 'http://127.0.0.1:1/data/v1' })
    const { port, close } = await listen({ port: 0, ...service })
    t.after(() => close(0))
    const url = `http://localhost:${port}`
    const visitOther = await openTab(browser(), { url })
    // Where a proxy has taken the path off.
    const shown = await visitOther(t, '/keyless')
    const { page } = shown
    await page.getByRole('link', { name: 'Collections' }).click()
    await page.waitForURL(`${url}/data/v1/`)
    await page.getByRole('link', { name: 'numbers' }).click()
    await page.waitForURL(`${url}/data/v1/numbers`)
    await page.reload()
    await page.locator('a[rel=next]').click()
    await page.waitForURL(`${url}/data/v1/numbers?page=2`)
    assert.equal(await shownPage(shown), '?page=2 501')
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByRole('button', { name: 'NDJSON' }).click()
    await page.getByText('1,234 of 1,234 items saved as numbers.ndjson').waitFor()
    await page.context().close()
  })
}
