/** What does one gain over json-server from npm, with a collection that it can hold? */

import { readFile } from 'node:fs/promises'
import { counted } from '../../src/contract/message-text.ts'
import { lastPage, PAGE_SIZE } from '../../src/contract/page.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { writeEvents } from '../data.ts'
import { startJsonServer } from '../json-server.ts'
import type { Figure, Question } from '../question.ts'
import { LOAD_TOOL } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION } from '../workspace.ts'

/** It reads all of them from a JSON file into memory. */
const MAX_ITEMS = 100_000

export const JSON_SERVER: Question = {
  name: 'json-server',
  needs: [],
  cost: { seconds: 71, secondsAMillion: 0 },
  async run(workspace) {
    const items = Math.min(workspace.items, MAX_ITEMS)
    const file = workspace.path('json-server.ndjson')
    await writeEvents(file, items)
    const started = await startJsonServer(workspace, (await readFile(file, 'utf8')).trimEnd().split('\n'))
    if ('skipped' in started) return started
    await using jsonServer = started
    await using server = await workspace.serve(await workspace.storeOf(items, 'json-server.db'), WITHOUT_CACHE)
    const pages = { first: 1, last: lastPage(items) }
    const figures: Figure[] = []
    for (const which of ['first', 'last'] as const) {
      const theirPath = `/${COLLECTION}?_page=${pages[which]}&_limit=${PAGE_SIZE}`
      await checkPage(`${jsonServer.url}${theirPath}`)
      workspace.step(`json-server: the ${which} page of both servers in turn`)
      const headers = { 'Accept-Encoding': 'gzip' }
      const rates = await compareRates(workspace, {
        reams: { url: `${server.url}/${COLLECTION}?page=${pages[which]}`, headers },
        jsonServer: { url: `${jsonServer.url}${theirPath}`, headers },
      })
      figures.push({
        measured: `${which} page of ${counted(items, 'item')}: requests/s ÷ of json-server, gzip, ours uncached`,
        value: rates.reams.requestsASecond / rates.jsonServer.requestsASecond,
        better: 'higher',
        raw: { ...rates, items, tool: LOAD_TOOL },
      })
    }
    return figures
  },
}

/** A server that answers something else would be no comparison. */
async function checkPage(url: string): Promise<void> {
  const items = await (await fetch(url)).json()
  if (!Array.isArray(items) || items.length !== PAGE_SIZE)
    throw new Error(`${url} was not answered with ${PAGE_SIZE} items.`)
}
