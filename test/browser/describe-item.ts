/** One item, what can be copied, the code for what is on the screen, and downloads. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { hold } from './describe-pages.ts'
import { csvOf, download, type Explorer, linesOf } from './open-explorer.ts'

const ROOT = join(import.meta.dirname, '../..')

async function copied(page: Page, button: string): Promise<string> {
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByText(`Copied: ${button.replace('Copy ', '')}.`, { exact: true }).waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

export function describeItem({ visit, server }: Explorer): void {
  describe('an item', () => {
    it('opens beside the table with every digit, and is copied as it was written', async (t) => {
      const { page, open, arrive } = await visit(t, '/events?page=3')
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

      await t.test(
        'gives the focus back when it is closed, and stays closed when something else is clicked',
        async () => {
          await page.getByRole('button', { name: 'Close' }).click()
          assert.equal(await page.locator('aside').isVisible(), false)
          assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Open item 1,005')
          await page.locator('tbody summary').first().click()
          assert.match(
            await page.locator('tbody pre').first().innerText(),
            /^\{\n {2}"hall": "A1",\n {2}"rows": \[\n {4}1,/,
          )
          assert.equal(await page.locator('aside').isVisible(), false)
          await page.getByRole('link', { name: 'Open item 1,005' }).press('Enter')
        },
      )

      await t.test('has an address of its own, where its collection has a key', async () => {
        await page.getByRole('link', { name: 'Open', exact: true }).click()
        await arrive('**/events/1005')
        assert.match(await page.locator('pre.json').innerText(), /"serial": 12345678901234562005/)
        assert.equal(await copied(page, 'Copy URL'), `${server().url}/events/1005`)
      })

      await t.test('is also copied where a page without https has no clipboard of its own', async () => {
        await page.evaluate(() => {
          navigator.clipboard.write = () => Promise.reject(new Error('no clipboard'))
        })
        assert.equal(await copied(page, 'Copy JSON'), server().events[1004])
        assert.equal(await page.locator(':focus').innerText(), 'Copy JSON')
      })

      await t.test('has the address of its page, where its collection has no key', async () => {
        await open('/keyless')
        await page.getByRole('button', { name: 'Open item 2', exact: true }).click()
        await page.locator('aside h2:focus').waitFor()
        assert.equal(await copied(page, 'Copy URL'), `${server().url}/keyless?page=1`)
        assert.equal(await copied(page, 'Copy JSON'), '{"id":2}')
        assert.equal(await page.getByRole('link', { name: 'Open', exact: true }).count(), 0)
      })
    })
  })

  it('the code asks for what is on the screen', async (t) => {
    const { page } = await visit(t, '/numbers?page=2')
    await page.getByRole('button', { name: 'Code' }).click()
    assert.equal(await copied(page, 'Copy curl'), `curl '${server().url}/numbers?page=2'`)
    const script = await copied(page, 'Copy JavaScript')
    const counting = script.replace('page.items)', 'page.items.length)').replace('console.log(item)', '{}')
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', counting], { cwd: ROOT })
    assert.equal((await run).stdout, '1234 500\n')
  })

  describe('a download', () => {
    it('as NDJSON holds every item byte for byte, and as CSV what reams pull writes', async (t) => {
      const { page } = await visit(t, '/events?page=3')
      await page.getByRole('button', { name: 'Download' }).click()
      assert.deepEqual(await download(page, 'NDJSON'), { name: 'events.ndjson', text: linesOf(server().events) })
      assert.equal(await page.locator('#download p').innerText(), '1,100 of 1,100 items saved as events.ndjson')
      assert.deepEqual(await download(page, 'CSV'), { name: 'events.csv', text: csvOf(server().events) })
    })

    it('shows how far it is, goes on while pages are turned, and can be cancelled', async (t) => {
      const shown = await visit(t, '/numbers')
      const { page, arrive } = shown
      const release = await hold(shown, '**/numbers@*page=3')
      let files = 0
      page.on('download', () => files++)
      await page.getByRole('button', { name: 'Download' }).click()
      await page.getByRole('button', { name: 'NDJSON' }).click()
      const bar = page.getByRole('progressbar', { name: 'Items' })
      await page.waitForFunction(() => document.querySelector('progress')?.value === 1000)
      assert.equal(await bar.getAttribute('max'), '1234')
      await page.keyboard.press('Escape')
      await page.locator('a[rel=next]').click()
      await arrive(/page=2$/)
      await page.getByRole('button', { name: 'Download' }).click()
      assert.equal(await page.locator('#download p').innerText(), '1,000 of 1,234 items')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('Cancelled. Nothing was saved.').waitFor()
      await release()
      assert.equal(files, 0)
      assert.equal(await bar.isVisible(), false)
      assert.equal((await download(page, 'CSV')).name, 'numbers.csv')
    })
  })
}
