/** Downloading a whole collection. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { csvOf, linesOf } from './expected-file.ts'
import type { Explorer } from './open-explorer.ts'

export function describeDownload({ visit, server }: Explorer): void {
  const download = async (page: Page, form: string): Promise<{ name: string; text: string }> => {
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: form, exact: true }).click()
    const file = await coming
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
  }

  describe('a download', () => {
    it('as NDJSON holds every item byte for byte, and as CSV what reams pull writes', async (t) => {
      const { page, open } = await visit(t)
      await open('/events?page=3')
      await page.getByRole('button', { name: 'Download' }).click()
      const lines = await download(page, 'NDJSON')
      assert.equal(lines.name, 'events.ndjson')
      assert.equal(lines.text, linesOf(server().events))
      assert.equal(await page.locator('#download p').innerText(), '1,234 of 1,234 items saved as events.ndjson')
      const { name, text } = await download(page, 'CSV')
      assert.equal(name, 'events.csv')
      assert.equal(text, csvOf(server().events))
    })

    it('shows how far it is, and can be cancelled', async (t) => {
      const { page, open } = await visit(t)
      await open('/numbers')
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/numbers?page=3', async (route) => {
        await held
        await route.continue().catch(() => {})
      })
      let files = 0
      page.on('download', () => files++)
      await page.getByRole('button', { name: 'Download' }).click()
      await page.getByRole('button', { name: 'NDJSON' }).click()
      const bar = page.getByRole('progressbar', { name: 'Items' })
      await page.waitForFunction(() => document.querySelector('progress')?.value === 1000)
      assert.equal(await bar.getAttribute('max'), '1234')
      assert.equal(await page.locator('#download p').innerText(), '1,000 of 1,234 items')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('Cancelled. Nothing was saved.').waitFor()
      release()
      await page.unrouteAll({ behavior: 'wait' })
      assert.equal(files, 0)
      assert.equal(await bar.isVisible(), false)
      const coming = page.waitForEvent('download')
      await page.getByRole('button', { name: 'CSV' }).click()
      assert.equal((await coming).suggestedFilename(), 'numbers.csv')
    })
  })
}
