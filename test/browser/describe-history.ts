/** Earlier states of a collection, and what has changed since. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
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

    it('has the changes since, and leads back to the live page', async (t) => {
      const { store } = server()
      await fill(store, 'diary', numbered(3))
      t.after(() => store.drop('diary'))
      const { page, settled, arrive } = await visit(t, '/diary')
      await page.getByRole('link', { name: 'Snapshot' }).click()
      await page.waitForURL(/@/)
      await page.getByRole('link', { name: 'Changes since' }).click()
      await page.waitForURL(/\.\.$/)
      await page.getByText('The collection still is in that state.').waitFor()
      await store.put('diary', itemRun(['{"id":4}'], { keyField: 'id' }))
      await page.reload()
      await settled()
      assert.equal(await page.locator('.facts').first().innerText(), '1 change · oldest first · page 1 of 1')
      assert.deepEqual(await page.locator('tbody tr td:nth-child(-n+3)').allInnerTexts(), ['put', '4'])
      await page.getByRole('link', { name: 'Live collection' }).click()
      await arrive(/\/diary$/)
      assert.equal(await page.locator('tbody tr').count(), 4)
    })
  })
}
