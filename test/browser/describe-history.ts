/** Earlier states of a collection, and what has changed since. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fill, numbered } from '../service/open-service.ts'
import { download, type Explorer, linesOf } from './open-explorer.ts'

export function describeHistory({ visit, server }: Explorer): void {
  describe('the history of a collection', () => {
    it('is reached from the live page: its pages, its items and the download are those of the state', async (t) => {
      const { store } = server()
      await fill(store, 'diary', numbered(600))
      t.after(() => store.drop('diary'))
      const { page, arrive } = await visit(t, '/diary')
      await page.getByRole('link', { name: 'Snapshot' }).click()
      await page.waitForURL(/\/diary@[\w-]+$/)
      await store.remove('diary', '501')
      await page.locator('a[rel=next]').click()
      await arrive(/\/diary@[\w-]+\?page=2$/)
      assert.equal(await page.locator('.facts').first().innerText(), '600 items · read only · page 2 of 2')
      await page.locator('tbody tr').first().locator('td').first().click()
      const panel = page.getByRole('complementary', { name: 'Item 501' })
      assert.equal(await panel.locator('pre').innerText(), '{\n  "id": 501\n}')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Download' }).click()
      const { name, text } = await download(page, 'NDJSON')
      assert.match(name, /^diary@[\w-]+\.ndjson$/)
      assert.equal(text, linesOf(numbered(600)))
    })
  })
}
