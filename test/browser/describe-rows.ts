/** Sorting and filtering the items of a page, and finding one by its key. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { fill } from '../service/open-service.ts'
import { keyed } from '../store/items.ts'
import { waitUntil } from '../wait-until.ts'
import type { Explorer } from './open-explorer.ts'

const ranksOf = (page: Page) => page.locator('tbody tr:not([hidden]) th').allTextContents()
const countOf = (page: Page) => page.locator('.tools [role=status]').innerText()

/** Page 1 begins with ten long items, and page 2 has forty more; of their notes only the end differs. */
const LONG = Array.from({ length: 540 }, (_, index) => {
  const rank = index + 1
  if (rank > 10 && rank <= 500) return `{"id":${rank}}`
  const words = 'words to be shortened '.repeat(60)
  const about = `{"words":"${words}","deep":[${rank}]}`
  return `{"id":${rank},"note":"${words}${2000 - rank} needle ${rank}.","field":"item ${rank} ${words}","about":${about},"last":"last ${rank}"}`
})

export function describeRows({ visit, server }: Explorer): void {
  describe('the items of this page', () => {
    it('are sorted by a column up, down and not at all, and filtered by a text, without asking the server', async (t) => {
      const { page, asked } = await visit(t, '/events?page=3')
      const head = page.getByRole('columnheader', { name: 'price number' })
      const sort = head.getByRole('button')
      assert.equal(await countOf(page), '100 items on this page')
      assert.equal(await head.getAttribute('aria-sort'), null)
      await sort.click()
      assert.equal(await head.getAttribute('aria-sort'), 'ascending')
      assert.deepEqual((await ranksOf(page)).slice(0, 3), ['1,040', '1,080', '1,001'])
      assert.equal(await countOf(page), '100 items on this page, sorted by price')
      await sort.press('Enter')
      assert.equal(await head.getAttribute('aria-sort'), 'descending')
      assert.deepEqual((await ranksOf(page)).slice(0, 3), ['1,039', '1,079', '1,038'])
      const filter = page.getByLabel('Filter this page')
      await filter.fill('no. 105')
      assert.deepEqual((await ranksOf(page)).slice(0, 3), ['1,059', '1,058', '1,057'])
      assert.equal(await countOf(page), '10 of 100 on this page, sorted by price')
      await sort.press('Space')
      assert.equal(await head.getAttribute('aria-sort'), null)
      assert.deepEqual(
        await ranksOf(page),
        Array.from({ length: 10 }, (_, index) => `1,05${index}`),
      )
      await filter.fill('CONCERT')
      assert.equal(await countOf(page), '33 of 100 on this page')
      await filter.fill('nothing has this')
      assert.equal(await countOf(page), '0 of 100 on this page')
      await filter.fill('')
      assert.deepEqual((await ranksOf(page)).slice(0, 2), ['1,001', '1,002'])
      assert.deepEqual(asked(), [])
      assert.equal(page.url(), `${server().url}/events?page=3`)
    })

    it('are sorted by what they are: numbers with every digit, dates, and what is empty at the end', async (t) => {
      const { page } = await visit(t, '/wide')
      const column = async (name: string) => {
        await page.getByRole('columnheader', { name }).getByRole('button').click()
        return ranksOf(page)
      }
      assert.deepEqual(await column('serial'), ['2', '3', '1', '4', '5'])
      assert.deepEqual(await column('serial'), ['1', '3', '2', '4', '5'])
      assert.deepEqual(await column('seen'), ['3', '1', '2', '4', '5'])
      assert.deepEqual(await column('mixed'), ['1', '5', '2', '3', '4'])
      assert.deepEqual(await column('mixed'), ['5', '1', '2', '3', '4'])
    })

    it('are all shown, counted, sorted and found by their full values, which are read once, where values are shortened', async (t) => {
      const { store, url } = server()
      await fill(store, 'long', LONG)
      t.after(() => store.drop('long'))
      const { page, settled, asked } = await visit(t, '/long?page=2')
      assert.equal(await countOf(page), '40 items on this page')
      assert.ok(!(await page.locator('tbody').innerHTML()).includes('needle'))
      assert.deepEqual(asked(), [])
      const filter = page.getByLabel('Filter this page')
      const finds = async (text: string, count: string, ranks?: string[]) => {
        await filter.fill(text)
        await waitUntil(async () => (await countOf(page)) === count)
        if (ranks) assert.deepEqual(await ranksOf(page), ranks)
      }
      await finds('NEEDLE 507', '1 of 40 on this page', ['507'])
      await finds('last 531', '1 of 40 on this page', ['531'])
      await finds('"deep":[520]', '1 of 40 on this page', ['520'])
      await finds('item 512', '1 of 40 on this page', ['512'])
      await finds('needle 3', '0 of 40 on this page')
      await finds('', '40 items on this page')
      const sort = page.getByRole('columnheader', { name: 'note' }).getByRole('button')
      await sort.click()
      await waitUntil(async () => (await ranksOf(page))[0] === '540')
      assert.deepEqual((await ranksOf(page)).slice(-2), ['502', '501'])
      assert.equal(await countOf(page), '40 items on this page, sorted by note')
      assert.equal(asked().length, 1)
      assert.match(asked()[0] ?? '', new RegExp(`^${url}/long@[^?]*\\?page=2$`))
      await store.replace('long', keyed(LONG.slice(500)))
      await finds('needle 538', '1 of 40 on this page, sorted by note')
      await page.getByRole('link', { name: 'Snapshot' }).click()
      await settled()
      await finds('needle 4', '1 of 500 on this page', ['4'])
      await page.getByRole('link', { name: 'Changes since' }).click()
      await settled()
      await finds('needle 515', '1 of 40 on this page', ['15'])
    })

    it('are filtered by what is shown, and it says so, where the items have changed or cannot be read', async (t) => {
      const { store, url } = server()
      await fill(store, 'long', LONG)
      await store.setRetention('long', { retentionMs: 0 })
      t.after(() => store.drop('long'))
      const { page, open } = await visit(t, '/long?page=2', /status of 500|Failed to load resource/)
      const filter = page.getByLabel('Filter this page')
      const finds = async (text: string, count: string) => {
        await filter.fill(text)
        await waitUntil(async () => (await countOf(page)) === count)
      }
      await page.route(`${url}/long?page=2`, (route) => route.fulfill({ status: 404, body: '{}' }))
      await finds('needle 507', '0 of 40 on this page, by what the table shows')
      assert.match(await page.locator('#status').innerText(), /^Only what the table shows is searched and sorted\. /)
      await finds('', '40 items on this page')
      const sortsBy = async (name: string, count: string) => {
        await page.getByRole('columnheader', { name }).getByRole('button').click()
        await waitUntil(async () => (await countOf(page)) === count)
      }
      await sortsBy('note text', '40 items on this page, sorted by note, by what the table shows')
      await sortsBy('id number', '40 items on this page, sorted by id')
      await page.unrouteAll()
      await open('/long?page=2')
      await finds('needle 507', '1 of 40 on this page')
      await open('/long?page=2')
      await store.put('long', keyed(['{"id":2}']))
      await finds('needle 507', '0 of 40 on this page, by what the table shows')
      assert.match(await page.locator('#status').innerText(), /The items have changed: reload the page\.$/)
      await page.reload()
      await finds('needle 507', '1 of 40 on this page')
    })

    it('are reached by the arrow keys as they stand, and opened where they have no address', async (t) => {
      const { page, open } = await visit(t, '/keyless')
      await page.getByRole('columnheader', { name: 'id' }).getByRole('button').click()
      await page.getByRole('columnheader', { name: 'id' }).getByRole('button').click()
      await page.getByRole('button', { name: 'Open item 3', exact: true }).focus()
      await page.keyboard.press('ArrowDown')
      assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Open item 2')
      await page.keyboard.press('Enter')
      await page.getByRole('complementary', { name: 'Item 2' }).waitFor()
      assert.match(await page.locator('aside pre').innerText(), /"id": 2/)
      await open('/events?page=3')
      await page.getByLabel('Filter this page').fill('film')
      assert.equal(await page.locator('tbody th > [tabindex="0"]').getAttribute('aria-label'), 'Open item 1,003')
      await page.locator('tbody th > [tabindex="0"]').focus()
      await page.keyboard.press('ArrowDown')
      assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Open item 1,006')
      await page.locator('thead [tabindex="0"]').focus()
      await page.keyboard.press('ArrowRight')
      assert.match(await page.locator(':focus').innerText(), /^title/)
      assert.equal(page.url(), `${server().url}/events?page=3`)
    })
  })

  it('an item is found by its key from any page, and where there is none a way leads back', async (t) => {
    const { page, settled, arrive } = await visit(t, '/numbers?page=3', /status of 404/)
    const field = page.getByLabel('Item by key (id)')
    await field.press('Enter')
    await page.getByText('Enter the key of an item.').waitFor()
    await field.fill('7')
    await field.press('Enter')
    await arrive('**/numbers/7')
    assert.match(await page.locator('pre.json').innerText(), /"id": 7\n/)
    await page.goBack()
    await settled()
    await field.fill('a/b?c')
    await field.press('Enter')
    await page.getByRole('heading', { name: 'There is no such item' }).waitFor()
    assert.equal(page.url(), `${server().url}/numbers/a%2Fb%3Fc`)
    assert.equal(await page.locator('.notice code').innerText(), '/numbers/a%2Fb%3Fc')
    await page.getByRole('link', { name: 'Back to numbers' }).click()
    await arrive('**/numbers')
    assert.equal(await page.locator('h1').innerText(), 'numbers')
  })

  it('an item whose key has several fields is found by their values', async (t) => {
    const { store, url } = server()
    await fill(store, 'seats', ['{"tenant":"x,y","id":7}', '{"tenant":"\\\\","id":8}'], { keyField: 'tenant,id' })
    t.after(() => store.drop('seats'))
    const { page, settled, arrive } = await visit(t, '/seats')
    await page.getByLabel('Item by key (tenant,id)').fill('x\\,y,7')
    await page.getByLabel('Item by key (tenant,id)').press('Enter')
    await arrive(`${url}/seats/x%5C,y,7`)
    assert.match(await page.locator('pre.json').innerText(), /"tenant": "x,y",/)
    await page.goBack()
    await settled()
    await page.getByLabel('Open item 2').click()
    await page.locator('aside h2:focus').waitFor()
    assert.match(await page.locator('aside pre').innerText(), /"id": 8/)
    assert.equal(
      await page.locator('aside').getByRole('link', { name: 'Open' }).getAttribute('href'),
      '/seats/%5C%5C,8',
    )
  })
}
