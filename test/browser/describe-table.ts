/** What is on the screen: the collections, and the table of one of them. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { Explorer } from './open-explorer.ts'

export function describeTable({ visit, server }: Explorer): void {
  describe('the entry', () => {
    it('shows all collections with counts, pages, a bar, flags and the last change, and leads to them', async (t) => {
      const { page, open, settled } = await visit(t)
      await open('/')
      const rows = await page.locator('tbody tr').allInnerTexts()
      const row = (name: string) => rows.find((text) => text.startsWith(`${name}\t`))?.split('\t')
      assert.deepEqual(row('events')?.slice(0, 3), ['events', '1,234', '3'])
      assert.deepEqual(row('venues')?.slice(0, 3), ['venues', '2', '–'])
      assert.match(row('venues')?.[4] ?? '', /not paginated.*key: id/)
      assert.equal(row('turned')?.[4], 'key: \\u202eyek')
      assert.equal(row('secrets'), undefined)
      const widths = await page
        .locator('tbody .bar rect')
        .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('width')))
      assert.equal(widths.length, rows.length)
      assert.ok(widths.includes('100'))
      const times = await page
        .locator('tbody time')
        .evaluateAll((all) => all.map((time) => time.getAttribute('datetime')))
      assert.equal(times.length, rows.length)
      for (const time of times) assert.ok(Math.abs(Date.parse(time ?? '') - Date.now()) < 3_600_000, String(time))
      await page.getByRole('link', { name: 'venues' }).click()
      await page.waitForURL(`${server().url}/venues`)
      await settled()
      assert.match(await page.locator('.facts').innerText(), /^2 items · not paginated · /)
      assert.equal(await page.locator('nav.pager').count(), 0)
      assert.deepEqual(await page.locator('tbody td').allInnerTexts(), ['hall', '120', 'room', '30'])
    })
  })

  describe('the table', () => {
    it('has a row for each of 500 items, columns from the items, and figures about the answer', async (t) => {
      const { page, open } = await visit(t)
      await open('/events')
      assert.equal(await page.locator('tbody tr').count(), 500)
      const names = await page.locator('thead tr').first().locator('th').allInnerTexts()
      assert.deepEqual(names, [
        '#',
        'id number',
        'title text',
        'starts date',
        'kind text',
        'price number',
        'free boolean',
        'site link',
        'serial number',
        'place object',
        'note null',
      ])
      const facts = await page.locator('.facts').innerText()
      assert.match(facts, /^1,234 items · page 1 of 3 · [\d.]+ kB \([\d.]+ kB packed\) in \d+ ms$/)

      await t.test('knows types: numbers to the right with every digit, dates, safe links, objects folded', () =>
        checkTypes(page),
      )
      await t.test('keeps its head and its first column in sight', () => checkSticky(page))
      await t.test('draws histograms of numbers and dates, and counts the most frequent texts', () =>
        checkSummaries(page),
      )
    })
  })
}

async function checkTypes(page: Page): Promise<void> {
  const cells = page.locator('tbody tr').nth(6).locator('td')
  assert.equal(await cells.nth(7).innerText(), '12345678901234561007')
  assert.equal(await cells.nth(4).innerText(), '7.10')
  assert.equal(await cells.nth(4).evaluate((cell) => getComputedStyle(cell).textAlign), 'right')
  assert.equal(await cells.nth(2).locator('time').getAttribute('datetime'), '2026-01-07T20:00:00Z')
  assert.equal(await cells.nth(5).innerText(), 'true')
  const link = cells.nth(6).getByRole('link')
  assert.equal(await link.getAttribute('href'), 'https://example.com/events/7')
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer')
  assert.equal(await cells.nth(8).locator('pre').count(), 0)
  await cells.nth(8).locator('summary').click()
  assert.match(await cells.nth(8).locator('pre').innerText(), /^\{\n {2}"hall": "A2",\n {2}"rows": \[\n {4}1,/)
  assert.equal(await page.locator('aside').count(), 0)
}

async function checkSticky(page: Page): Promise<void> {
  const scroller = page.locator('.scroller')
  await scroller.evaluate((element) => element.scrollTo(300, 2000))
  const { x, y } = (await scroller.boundingBox()) ?? assert.fail('There is no table.')
  const head = await page.locator('thead th').nth(1).boundingBox()
  const first = await page.locator('tbody tr').nth(80).locator('td').first().boundingBox()
  assert.ok(Math.abs((head?.y ?? 0) - y) < 3)
  assert.ok(Math.abs((head?.x ?? 0) - x) < 3)
  assert.ok(Math.abs((first?.x ?? 0) - x) < 3)
}

async function checkSummaries(page: Page): Promise<void> {
  const summaries = page.locator('.summary td')
  const label = await summaries.nth(1).getByRole('img').getAttribute('aria-label')
  assert.match(label ?? '', /^Histogram of 500 values from 1 to 500, in 12 steps: 42, 42, /)
  const steps = (label ?? '').split(': ')[1]?.split(', ').map(Number) ?? []
  assert.equal(
    steps.reduce((sum, step) => sum + step, 0),
    500,
  )
  assert.equal(await summaries.nth(3).locator('.histogram div').innerText(), '2026-01-01\n2027-05-15')
  assert.match(await summaries.nth(4).innerText(), /film\s+167\s+talk\s+167\s+concert\s+166/)
  assert.equal(await summaries.nth(2).innerText(), '500 different values')
  assert.match(await summaries.nth(6).innerText(), /false\s+429\s+true\s+71/)
}
