/** When there is nothing to show, or not yet, or not any more; and where the service is mounted elsewhere. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import type { Explorer } from './open-explorer.ts'
import { visit as visitOther } from './open-explorer.ts'

export function describeStates({ visit, server, browser }: Explorer): void {
  describe('a state without data', () => {
    it('is told: an empty collection, a missing one, a missing item, a wrong page', async (t) => {
      const { page, open } = await visit(t, { expected: /status of 40[04]/ })
      await open('/nothing-yet')
      assert.match(await page.locator('main').innerText(), /0 items · page 1 of 1[\s\S]*No items yet/)
      await open('/missing')
      assert.match(await page.locator('.notice').innerText(), /no such collection[\s\S]*404/)
      await open('/events/none')
      assert.match(await page.locator('.notice').innerText(), /"none"[\s\S]*404/)
      await open('/events?page=abc')
      assert.match(await page.locator('.notice').innerText(), /"abc"[\s\S]*400/)
    })

    it('is a server that fails, which goes away by trying again, or being offline, which ends by itself', async (t) => {
      const { page, open, settled } = await visit(t, { expected: /status of 500|ERR_INTERNET_DISCONNECTED/ })
      await open('/numbers')
      const problem = { title: 'Something broke', detail: 'It was the test.', hint: 'Try again.' }
      await page.route('**/numbers?page=2', (route) => route.fulfill({ status: 500, json: problem }))
      await page.locator('a[rel=next]').click()
      await page.getByRole('heading', { name: 'Something broke' }).waitFor()
      assert.match(await page.locator('.notice').innerText(), /It was the test\. Try again\.[\s\S]*500/)
      await page.unrouteAll()
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.locator('tbody tr').first().waitFor()
      await settled()
      assert.equal(await page.locator('tbody th').first().innerText(), '501')

      await page.context().setOffline(true)
      await page.locator('a[rel=next]').click()
      await page.getByRole('heading', { name: 'You are offline' }).waitFor()
      await page.context().setOffline(false)
      await page.locator('tbody tr').first().waitFor()
      assert.match(page.url(), /page=3$/)
      assert.equal(await page.locator('tbody th').first().innerText(), '1,001')
    })

    it('is a server that is gone', async (t) => {
      const { port, close } = await listen({ port: 0, ...createService({ store: server().store }) })
      t.after(() => close(0))
      const other = { url: `http://127.0.0.1:${port}` }
      const { page, open } = await visitOther(t, browser(), other, { expected: /ERR_CONNECTION_REFUSED/ })
      await open('/venues')
      await close(0)
      await page.getByRole('link', { name: 'Collections' }).click()
      await page.getByRole('heading', { name: 'The server does not answer' }).waitFor()
      assert.ok(await page.getByRole('button', { name: 'Try again' }).isVisible())
    })
  })

  describe('the place of the service', () => {
    it('can have a path', async (t) => {
      const { store } = server()
      const service = createService({ store, baseUrl: 'http://127.0.0.1:1/data/v1' })
      const { port, close } = await listen({ port: 0, ...service })
      t.after(() => close(0))
      const url = `http://127.0.0.1:${port}`
      const { page, open, settled } = await visitOther(t, browser(), { url })
      for (const prefix of ['/data/v1', '']) {
        await open(`${prefix}/numbers`)
        await page.locator('a[rel=next]').click()
        await page.waitForURL(`${url}/data/v1/numbers?page=2`)
        await settled()
        assert.equal(await page.locator('tbody th').first().innerText(), '501')
        // From here on the address is the same.
        if (prefix === '') continue
        await page.getByRole('link', { name: 'Collections' }).click()
        await page.waitForURL(`${url}/data/v1/`)
        await settled()
        await page.getByRole('link', { name: 'venues' }).click()
        await page.waitForURL(`${url}/data/v1/venues`)
        await settled()
        assert.equal(await page.locator('tbody tr').count(), 2)
      }
    })

    for (const host of ['localhost', '[::1]'])
      it(`can be called ${host}`, async (t) => {
        const { store, port } = server()
        if (host === '[::1]') {
          const service = createService({ store, loopbackPort: port })
          const other = await listen({ port, host: '::1', ...service }).catch((error: Error) => error)
          if (other instanceof Error) return t.skip(`There is no ::1 here: ${other.message}`)
          t.after(() => other.close(0))
        }
        const url = `http://${host}:${port}`
        const { page, open, settled } = await visitOther(t, browser(), { url })
        await open('/numbers')
        assert.equal(await page.locator('a[rel=next]').getAttribute('href'), `${url}/numbers?page=2`)
        await page.locator('a[rel=next]').click()
        await page.waitForURL(/page=2$/)
        await settled()
        assert.equal(await page.locator('tbody th').first().innerText(), '501')
      })
  })
}
