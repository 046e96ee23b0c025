/** One item, what can be copied, and the code for what is on the screen. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import type { Explorer } from './open-explorer.ts'

const ROOT = join(import.meta.dirname, '../..')
const WITH_CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] }

export function describeItem({ visit, server }: Explorer): void {
  const copied = async (page: Page, button: string): Promise<string> => {
    await page.getByRole('button', { name: button, exact: true }).click()
    await page.getByText(`Copied: ${button.replace('Copy ', '')}.`, { exact: true }).waitFor()
    return page.evaluate(() => navigator.clipboard.readText())
  }

  describe('an item', () => {
    it('opens beside the table with every digit, and is copied as it was written', async (t) => {
      const { page, open, settled } = await visit(t, WITH_CLIPBOARD)
      await open('/events?page=3')
      await page.locator('tbody tr').nth(4).locator('td').nth(1).click()
      const panel = page.getByRole('complementary', { name: 'Item 1,005' })
      const text = await panel.locator('pre').innerText()
      assert.match(text, /^\{\n {2}"id": 1005,\n/)
      assert.match(text, /"price": 5\.10,\n/)
      assert.match(text, /"serial": 12345678901234562005,\n/)
      assert.match(text, /"rows": \[\n {6}1,\n {6}2,\n {6}\{\n {8}"deep": null\n/)
      await page.locator('aside h2:focus').waitFor()
      assert.equal(await page.locator('tr[aria-current]').count(), 1)
      const table = await page.locator('.scroller').boundingBox()
      const beside = await panel.boundingBox()
      assert.ok((beside?.x ?? 0) >= (table?.x ?? 0) + (table?.width ?? 0))
      assert.equal(await copied(page, 'Copy JSON'), server().events[1004])
      assert.equal(await copied(page, 'Copy URL'), `${server().url}/events/1005`)
      assert.equal(page.url(), `${server().url}/events?page=3`)

      await t.test('gives the focus back when it is closed', async () => {
        await page.getByRole('button', { name: 'Close' }).click()
        assert.equal(await page.locator('aside').count(), 0)
        assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Open item 1,005')
        await page.keyboard.press('Enter')
      })

      await t.test('has an address of its own, where its collection has a key', async () => {
        await page.getByRole('link', { name: 'Open', exact: true }).click()
        await page.waitForURL('**/events/1005')
        await settled()
        assert.match(await page.locator('pre.json').innerText(), /"serial": 12345678901234562005/)
      })

      await t.test('is also copied where a page without https has no clipboard of its own', async () => {
        await page.evaluate(() => {
          navigator.clipboard.writeText = () => Promise.reject(new Error('no clipboard'))
        })
        assert.equal(await copied(page, 'Copy JSON'), server().events[1004])
        assert.equal(await page.locator(':focus').innerText(), 'Copy JSON')
      })

      await t.test('has the address of its page, where its collection has no key', async () => {
        await page.goBack()
        await settled()
        assert.equal(await page.locator('tbody tr').count(), 234)
        await open('/keyless')
        await page.getByRole('button', { name: 'Open item 1', exact: true }).click()
        assert.equal(await copied(page, 'Copy URL of the page'), `${server().url}/keyless?page=1`)
      })
    })
  })

  describe('the code', () => {
    it('asks for what is on the screen', async (t) => {
      const { page, open } = await visit(t, WITH_CLIPBOARD)
      const { url } = server()
      await open('/numbers?page=2')
      await page.getByRole('button', { name: 'Code' }).click()
      assert.equal(await copied(page, 'Copy curl'), `curl '${url}/numbers?page=2'`)
      const script = await copied(page, 'Copy JavaScript')
      const counting = script.replace('page.items)', 'page.items.length)').replace('console.log(item)', '{}')
      const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', counting], { cwd: ROOT })
      assert.equal((await run).stdout, '1234 500\n')
      await open('/venues')
      await page.getByRole('button', { name: 'Code' }).click()
      assert.equal(await copied(page, 'Copy curl'), `curl '${url}/venues'`)
    })
  })
}
