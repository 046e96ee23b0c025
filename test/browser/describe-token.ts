/** Private collections. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Explorer } from './open-explorer.ts'

const NOT_FOUND = { expected: /status of 40[14]/ }

export function describeToken({ visit, server }: Explorer): void {
  describe('a token', () => {
    it('opens what is private, on every page of this tab, and is kept nowhere', async (t) => {
      const { page, open, settled } = await visit(t, NOT_FOUND)
      const { token, url } = server()
      await open('/secrets')
      assert.equal(await page.locator('h1').innerText(), 'There is no such collection')
      await page.getByRole('button', { name: 'Enter a token' }).click()
      await page.getByLabel('Token', { exact: true }).and(page.locator('input')).fill(token)
      await page.keyboard.press('Enter')
      await page.locator('tbody tr').nth(1).waitFor()
      assert.match(await page.locator('.facts').innerText(), /^2 items/)
      await page.getByRole('link', { name: 'Collections' }).click()
      await page.waitForURL(`${url}/`)
      await settled()
      const row = page.locator('tbody tr', { hasText: 'secrets' })
      assert.match(await row.innerText(), /private/)
      await row.getByRole('link').click()
      await settled()
      await page.getByRole('button', { name: 'Code' }).click()
      const code = await page.locator('#code').innerText()
      assert.match(code, /curl '.*' -H "Authorization: Bearer \$TOKEN"/)
      const kept = await page.evaluate(() => ({
        storage: { ...localStorage, ...sessionStorage },
        page: document.documentElement.outerHTML + location.href + document.cookie,
        values: [...document.querySelectorAll('input')].map((input) => input.value).join(),
        state: JSON.stringify(history.state),
      }))
      assert.deepEqual(kept.storage, {})
      assert.ok(![kept.page, kept.values, kept.state].join().includes(token))
      await page.reload()
      await settled()
      assert.equal(await page.locator('h1').innerText(), 'There is no such collection')
    })

    it('goes with a download, and can be forgotten', async (t) => {
      const { page, open, settled } = await visit(t, NOT_FOUND)
      await open('/')
      const tokenButton = page.getByRole('banner').getByRole('button', { name: /^Token/ })
      await tokenButton.click()
      await page.locator('#token input').fill(server().token)
      await page.getByRole('button', { name: 'Use' }).click()
      await page.getByRole('link', { name: 'secrets' }).click()
      await settled()
      await page.getByRole('button', { name: 'Download' }).click()
      const coming = page.waitForEvent('download')
      await page.getByRole('button', { name: 'NDJSON' }).click()
      assert.equal((await coming).suggestedFilename(), 'secrets.ndjson')
      await page.keyboard.press('Escape')
      await tokenButton.click()
      await page.getByRole('button', { name: 'Forget' }).click()
      await page.getByRole('heading', { name: 'There is no such collection' }).waitFor()
    })

    it('that is wrong is told', async (t) => {
      const { page, open } = await visit(t, NOT_FOUND)
      await open('/venues')
      await page.getByRole('button', { name: 'Token' }).click()
      const field = page.locator('#token input')
      await field.fill('two words')
      await page.keyboard.press('Enter')
      await page.getByText('A token has no blanks').waitFor()
      await field.fill('reams_wrong')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      assert.match(await page.locator('.notice').innerText(), /401/)
    })
  })
}
