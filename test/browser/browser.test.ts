/** All tests that need a browser: one Chromium for the explorer, for pages of other origins, and for the client. */

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Browser } from 'playwright-core'
import { isUnwanted, launchChromium } from './chromium.ts'
import { describeClient } from './describe-client.ts'
import { describeCors } from './describe-cors.ts'
import { describeHistory } from './describe-history.ts'
import { describeHostile } from './describe-hostile.ts'
import { describeItem } from './describe-item.ts'
import { describeLook } from './describe-look.ts'
import { describePages } from './describe-pages.ts'
import { describeRows } from './describe-rows.ts'
import { describeToken } from './describe-token.ts'
import { type Explorer, type ExplorerServer, openTab, startExplorerServer, type Visitor } from './open-explorer.ts'

/** A Chromium may have to be downloaded first. */
const LAUNCH_MS = 1_200_000

const skip = isUnwanted() ? 'REAMS_TEST_CHROMIUM=none: there are no tests in a browser' : false
if (skip) console.log(`Skipped: ${skip}.`)

describe('in a Chromium', { skip }, () => {
  let server: ExplorerServer | undefined
  let browser: Browser | undefined
  let visit: Visitor | undefined
  const isReady = 'Server and browser are started before the first test.'
  const explorer: Explorer = {
    server: () => server ?? assert.fail(isReady),
    browser: () => browser ?? assert.fail(isReady),
    visit: (...words) => (visit ?? assert.fail(isReady))(...words),
  }

  before(
    async () => {
      browser = await launchChromium()
      server = await startExplorerServer()
      visit = await openTab(browser, server)
    },
    { timeout: LAUNCH_MS },
  )
  after(async () => {
    await browser?.close()
    await server?.close()
  })

  describe('the explorer', () => {
    describePages(explorer)
    describeItem(explorer)
    describeRows(explorer)
    describeHistory(explorer)
    describeToken(explorer)
    describeLook(explorer)
    describeHostile(explorer)
  })
  describeCors(explorer.browser)
  describeClient(explorer.browser)
})
