/** For everybody: by keyboard, for the ear, on a phone, in the dark, and without JavaScript. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Explorer, openTab, overflowOf } from './open-explorer.ts'

const SIZES = [
  { size: 'phone', width: 360, height: 700 },
  { size: 'tablet', width: 820, height: 1100 },
]
const VIEWS = ['/', '/venues', '/events/1', '/nothing-yet', '/events?page=3']

export function describeLook({ visit, server, browser }: Explorer): void {
  describe('the page', () => {
    it('can be walked through by keyboard alone, and shows where the focus is', async (t) => {
      const { page, arrive } = await visit(t, '/')
      await tabTo(page, 'link', 'numbers')
      const outline = await page.locator(':focus').evaluate((link) => getComputedStyle(link).outlineStyle)
      assert.equal(outline, 'solid')
      await page.keyboard.press('Enter')
      await arrive('**/numbers')
      assert.equal(await page.locator(':focus').innerText(), 'numbers')
      await tabTo(page, 'link', 'Next ›')
      await page.keyboard.press('Enter')
      await arrive(/page=2$/)
      assert.equal(await page.locator(':focus').innerText(), 'Next ›')
      await tabTo(page, 'link', 'Open item 501')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.locator('aside h2:focus').waitFor()
      await tabTo(page, 'button', 'Copy JSON')
      await page.keyboard.press('Escape')
      assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Open item 502')
    })

    it('opens an item by Enter and by Space, also while text is selected in a field', async (t) => {
      const { page, open } = await visit(t)
      for (const [view, role] of [
        ['/numbers', 'link'],
        ['/keyless', 'button'],
      ] as const) {
        await open(view)
        for (const key of ['Enter', 'Space']) {
          await page.getByLabel('Page', { exact: true }).selectText()
          const opener = page.getByRole(role, { name: 'Open item 1', exact: true })
          await opener.focus()
          assert.equal(await page.evaluate(() => String(getSelection())), '1')
          await page.keyboard.press(key)
          await page.getByRole('complementary', { name: 'Item 1' }).waitFor()
          await page.locator('aside h2:focus').waitFor()
          await page.keyboard.press('Escape')
        }
      }
    })

    it('keeps the head and the column of the key in sight, wherever it stands', async (t) => {
      const { page, open } = await visit(t, '/wide')
      await page.setViewportSize({ width: 375, height: 700 })
      for (const left of [0, 150, 9999]) {
        await page.locator('.scroller').evaluate((element, x) => element.scrollTo(x, 0), left)
        const table = (await page.locator('.scroller').boundingBox()) ?? assert.fail('There is no table.')
        const key = (await page.getByRole('cell', { name: 'k3' }).boundingBox()) ?? assert.fail('There is no key.')
        assert.ok(key.x >= table.x && key.x + key.width <= table.x + table.width + 1, `at ${left}: ${key.x}`)
      }
      await page.setViewportSize({ width: 1280, height: 800 })
      await open('/events?page=3')
      const scroller = page.locator('.scroller')
      await scroller.evaluate((element) => element.scrollTo(300, 1000))
      const { x, y } = (await scroller.boundingBox()) ?? assert.fail('There is no table.')
      const head = await page.locator('thead th').nth(1).boundingBox()
      const first = await page.locator('tbody tr').nth(40).locator('td').first().boundingBox()
      for (const distance of [(head?.y ?? 0) - y, (head?.x ?? 0) - x, (first?.x ?? 0) - x])
        assert.ok(Math.abs(distance) < 3, String(distance))
    })

    it('cuts off neither what is unfolded, nor what stands above a column, nor the labels of buttons', async (t) => {
      const { page } = await visit(t, '/wide')
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 800 })
        const cut = await page.evaluate(() => {
          for (const details of document.querySelectorAll('details')) details.open = true
          const whole = document.querySelectorAll<HTMLElement>(
            'tbody details pre, .summary td, .summary .histogram div',
          )
          return [...whole]
            .filter((each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1)
            .map((each) => each.textContent)
        })
        assert.deepEqual(cut, [], `at ${width}`)
        await openItem(page, 'Open item 3')
        const lines = (selector: string) =>
          page.locator(selector).evaluateAll((all) => new Set(all.map((each) => each.getBoundingClientRect().y)).size)
        assert.deepEqual([await lines('.pager a'), await lines('aside .row:first-child button')], [1, 1])
        const heights = await page
          .locator('button:visible, .pager a, .row a:visible')
          .evaluateAll((all) => all.filter((each) => !each.closest('table')).map(({ clientHeight }) => clientHeight))
        assert.ok(Math.max(...heights) < 30, `${heights}`)
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Code', exact: true }).click()
        const code = (await page.locator('#code').boundingBox()) ?? assert.fail('The code is not open.')
        assert.ok(code.x >= 0 && code.x + code.width <= width && code.y + code.height <= 800)
        assert.ok(code.width >= Math.min(300, width - 20), `${code.width}`)
        await page.keyboard.press('Escape')
      }
    })

    it('tells null, an empty text and a missing field apart, in words', async (t) => {
      const { page } = await visit(t, '/wide')
      const cells = page.getByRole('row').filter({ hasText: /k[234]/ })
      for (const [place, name] of ['null', 'missing', 'empty text'].entries())
        assert.equal(await cells.nth(place).getByRole('cell', { name, exact: true }).count(), 1, name)
    })

    it('has roles and names for those who hear it', async (t) => {
      const { page } = await visit(t, '/numbers')
      await page.getByRole('banner').waitFor()
      await page.getByRole('navigation', { name: 'Breadcrumb' }).waitFor()
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
      await page.getByRole('main').waitFor()
      await page.getByRole('table', { name: 'numbers, items 1–500' }).waitFor()
      await page.getByRole('columnheader', { name: 'id number' }).waitFor()
      await page.getByRole('rowheader', { name: 'Open item 17', exact: true }).waitFor()
      await page.getByRole('slider', { name: 'Place in the collection' }).waitFor()
      for (const name of ['« First', '‹ Prev']) {
        const link = page.getByRole('link', { name })
        assert.equal(await link.getAttribute('aria-disabled'), 'true')
        assert.equal(await link.evaluate((element) => getComputedStyle(element).borderColor), 'rgba(0, 0, 0, 0)')
      }
      const status = page.locator('#status')
      assert.equal(await status.getAttribute('role'), 'status')
      await page.locator('a[rel=next]').click()
      await page.waitForFunction(() => document.getElementById('status')?.textContent?.includes('page 2 of 3'))
      assert.equal(await page.locator('html').getAttribute('lang'), 'en')
    })

    it('has enough contrast in light and dark, and fits on a phone and a tablet', async (t) => {
      const { page, open } = await visit(t)
      for (const view of VIEWS) {
        await open(view)
        if (view === '/venues') await openItem(page, 'Open item 2')
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          const found = await contrasts(page)
          assert.ok(found.length >= 3)
          const wrong = found.filter(({ ratio }) => ratio < 4.5)
          assert.deepEqual(wrong, [], `${view} ${colorScheme}`)
          const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
          assert.equal(back, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(21, 24, 28)')
        }
        for (const { size, ...viewport } of SIZES) {
          await page.setViewportSize(viewport)
          assert.deepEqual(await overflowOf(page), [], `${view} on a ${size}`)
        }
      }
      for (const { width, height } of SIZES) {
        await page.setViewportSize({ width, height })
        await openItem(page, 'Open item 1,002')
        const box = (await page.locator('aside').boundingBox()) ?? assert.fail('The item is not open.')
        assert.ok(box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= height)
        assert.deepEqual(await overflowOf(page), [])
        await page.getByRole('button', { name: 'Close' }).click()
        await page.getByRole('button', { name: 'Code' }).click()
        const code = (await page.locator('#code').boundingBox()) ?? assert.fail('The code is not open.')
        assert.ok(code.x >= 0 && code.x + code.width <= width)
        await page.keyboard.press('Escape')
      }
    })

    it('works without JavaScript, as a table with links', async (t) => {
      const { page, open } = await (await openTab(browser(), server(), { javaScriptEnabled: false }))(t)
      const click = async (role: 'link' | 'button', name: string) => {
        await page.getByRole(role, { name }).click()
        await page.waitForLoadState()
      }
      const ranks = page.locator('tbody th')
      await open('/')
      await click('link', 'numbers')
      assert.equal(await ranks.count(), 500)
      await click('link', 'Next ›')
      assert.equal(page.url(), `${server().url}/numbers?page=2`)
      assert.equal(await ranks.first().innerText(), '501')
      await page.getByLabel('Page', { exact: true }).fill('3')
      await click('button', 'Go')
      assert.equal(await ranks.first().innerText(), '1,001')
      await click('link', 'Open item 1,001')
      assert.match(await page.locator('pre.json').innerText(), /"id": 1001/)
      await page.goBack()
      await click('link', 'Collections')
      await click('link', 'venues')
      assert.equal(await ranks.count(), 2)
      const number = page.locator('td.number').first()
      assert.equal(await number.evaluate((cell) => getComputedStyle(cell).textAlign), 'right')
      await page.context().close()
    })
  })
}

async function openItem(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  await page.locator('aside h2:focus').waitFor()
}

/** By the Tab key, as often as it takes; no page has more than 40 stops on the way. */
async function tabTo(page: Page, role: 'link' | 'button', name: string): Promise<void> {
  const focused = () =>
    page.evaluate(() => {
      const { tagName, ariaLabel, textContent } = document.activeElement ?? document.body
      return `${tagName === 'A' ? 'link' : tagName.toLowerCase()} ${ariaLabel ?? textContent}`
    })
  for (let stop = 0; stop < 40; stop++) {
    await page.keyboard.press('Tab')
    if ((await focused()) === `${role} ${name}`) return
  }
  assert.fail(`Tab does not lead to the ${role} ${name}.`)
}

/** Of every text that can be seen, against what is behind it (WCAG 2.2, 1.4.3). */
function contrasts(page: Page): Promise<{ text: string; ratio: number }[]> {
  return page.evaluate(() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    const colours = new Map<string, number[]>()
    const rgb = (color: string): number[] => {
      const found = colours.get(color)
      if (found || canvas === null) return found ?? []
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = color
      canvas.fillRect(0, 0, 1, 1)
      colours.set(color, [...canvas.getImageData(0, 0, 1, 1).data])
      return rgb(color)
    }
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = rgb(color).map((part) =>
        part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
      )
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const backOf = (element: Element | null): string => {
      if (element === null) return 'white'
      const { backgroundColor } = getComputedStyle(element)
      return (rgb(backgroundColor)[3] ?? 0) > 0 ? backgroundColor : backOf(element.parentElement)
    }
    const known = new Map<string, { text: string; ratio: number }>()
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const element = node.parentElement
      if (element === null || !node.textContent?.trim() || !element.checkVisibility()) continue
      const [front, back] = [getComputedStyle(element).color, backOf(element)]
      if (known.has(front + back)) continue
      const [a = 0, b = 0] = [luminance(front), luminance(back)].sort((x, y) => y - x)
      known.set(front + back, {
        text: `${node.textContent.slice(0, 40)} ${front} on ${back}`,
        ratio: (a + 0.05) / (b + 0.05),
      })
    }
    // So few pairs of colours there are; each of them counts once for every text that has it.
    return [...known.values()]
  })
}
