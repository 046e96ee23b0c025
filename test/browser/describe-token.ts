/** Private collections. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { download, type Explorer } from './open-explorer.ts'

export function describeToken({ visit, server }: Explorer): void {
  describe('a token', () => {
    it('opens what is private, on every page of this tab, goes with a download, and is kept nowhere', async (t) => {
      const { page, arrive } = await visit(t, '/secrets', /status of 404/)
      const { token, url } = server()
      assert.equal(await page.locator('h1').innerText(), 'There is no such collection')
      await page.getByRole('button', { name: 'Enter a token' }).click()
      await page.getByLabel('Token', { exact: true }).and(page.locator('input')).fill(token)
      await page.keyboard.press('Enter')
      await page.locator('tbody tr').nth(1).waitFor()
      assert.match(await page.locator('.facts').innerText(), /^2 items · page 1 of 1 · private/)
      await page.getByRole('link', { name: 'Open item 2' }).click()
      await page.getByRole('complementary', { name: 'Item 2' }).waitFor()
      await page.getByRole('link', { name: 'Collections' }).click()
      await arrive(`${url}/`)
      await page.getByRole('link', { name: 'secrets' }).click()
      await arrive(`${url}/secrets`)
      assert.equal(await page.getByRole('link', { name: 'Raw JSON' }).count(), 0)
      await page.getByRole('button', { name: 'Code' }).click()
      assert.match(await page.locator('#code').innerText(), /curl '.*' -H "Authorization: Bearer \$TOKEN"/)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Download' }).click()
      assert.deepEqual(await download(page, 'NDJSON'), { name: 'secrets.ndjson', text: '{"id":1}\n{"id":2}\n' })
      const kept = await page.evaluate(() => ({
        storage: { ...localStorage, ...sessionStorage },
        page: document.documentElement.outerHTML + location.href + document.cookie,
        values: [...document.querySelectorAll('input')].map((input) => input.value).join(),
        state: JSON.stringify(history.state),
      }))
      assert.deepEqual(kept.storage, {})
      assert.ok(![kept.page, kept.values, kept.state].join().includes(token))
      await page.keyboard.press('Escape')

      await t.test('until it is forgotten, or the page is loaded anew', async () => {
        const refused = page.getByRole('heading', { name: 'There is no such collection' })
        await page.reload()
        await refused.waitFor()
        await page.getByRole('button', { name: 'Token', exact: true }).click()
        await page.locator('#token input').fill(token)
        await page.getByRole('button', { name: 'Use' }).click()
        await page.locator('tbody tr').nth(1).waitFor()
        await page.getByRole('button', { name: /^Token/ }).click()
        await page.getByRole('button', { name: 'Forget' }).click()
        await refused.waitFor()
      })
    })

    it('that is wrong is told, and can be corrected; the focus goes into the dialog and back', async (t) => {
      const { page, settled } = await visit(t, '/venues', /status of 401/)
      const button = page.locator('#top').getByRole('button', { name: /^Token/ })
      const field = page.locator('#token input')
      await button.press('Enter')
      await page.locator('#token input:focus').waitFor()
      await page.keyboard.press('Escape')
      await page.locator('#top [popovertarget]:focus').waitFor()
      await button.press('Enter')
      await field.fill('two words')
      await page.keyboard.press('Enter')
      await page.getByText('A token has no blanks').waitFor()
      await field.fill('reams_wrong')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'A token is needed, or this one is not valid' }).waitFor()
      await page.getByRole('alert').getByText('The server does not accept this token.').waitFor()
      await page.locator('#token input:focus').waitFor()
      await page.getByRole('button', { name: 'Token not accepted' }).waitFor()
      assert.equal(await field.inputValue(), 'reams_wrong')
      await field.fill(server().token)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Token ✓' }).and(page.locator(':focus')).waitFor()
      await settled()
      assert.equal(await page.locator('h1').innerText(), 'venues')
      assert.equal(await field.inputValue(), '')
      assert.equal(await page.getByRole('alert').count(), 0)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Forget' }).click()
      await page.getByRole('button', { name: 'Token', exact: true }).and(page.locator(':focus')).waitFor()
    })
  })
}
