import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Browser } from 'playwright-core'
import { isUnwanted, launchChromium } from './chromium.ts'
import { describeDownload } from './describe-download.ts'
import { describeHostile } from './describe-hostile.ts'
import { describeItem } from './describe-item.ts'
import { describeLook } from './describe-look.ts'
import { describePages } from './describe-pages.ts'
import { describeStates } from './describe-states.ts'
import { describeTable } from './describe-table.ts'
import { describeToken } from './describe-token.ts'
import { type Explorer, type ExplorerServer, startExplorerServer, visit } from './open-explorer.ts'

/** A Chromium may have to be downloaded first. */
const LAUNCH_MS = 1_200_000

const skip = isUnwanted() ? 'REAMS_TEST_CHROMIUM=none: nobody looks at the explorer in a browser' : false
if (skip) console.log(`Skipped: ${skip}.`)

describe('the explorer in a Chromium', { skip }, () => {
  let server: ExplorerServer | undefined
  let browser: Browser | undefined
  const explorer: Explorer = {
    server: () => server ?? assert.fail('The server is started before the first test.'),
    browser: () => browser ?? assert.fail('The browser is started before the first test.'),
    visit: (t, options) => visit(t, explorer.browser(), explorer.server(), options),
  }

  before(
    async () => {
      browser = await launchChromium()
      server = await startExplorerServer()
    },
    { timeout: LAUNCH_MS },
  )
  after(async () => {
    await browser?.close()
    await server?.close()
  })

  describeTable(explorer)
  describePages(explorer)
  describeItem(explorer)
  describeDownload(explorer)
  describeToken(explorer)
  describeStates(explorer)
  describeLook(explorer)
  describeHostile(explorer)
})
