/** How much more does a page cost that is asked for again and again than sending its bytes? */

import { allowWrites } from '../allow-writes.ts'
import { BARE_SERVER, startServer } from '../child-process.ts'
import { inTurn, median } from '../measure.ts'
import { CAN_MEASURE_NGINX, startNginx } from '../nginx-server.ts'
import type { Figure, Question } from '../question.ts'
import { LOAD_TOOL, readRate } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

const LEAST = { identity: 0.85, gzip: 0.75 } as const

export const HOT_PAGE: Question = {
  name: 'hot-page',
  needs: ['sample'],
  cost: { seconds: 112, secondsAMillion: 0 },
  async run(workspace) {
    const path = await workspace.storeOf(Math.min(workspace.items, 100_000), 'hot-page.db')
    const token = await allowWrites(path)
    await using server = await workspace.serve(path)
    const url = `${server.url}/${COLLECTION}?page=1`
    const figures: Figure[] = []
    for (const encoding of ['identity', 'gzip'] as const) {
      workspace.step(`hot-page: ours and bare node:http in turn, ${encoding}`)
      const headers = { 'Accept-Encoding': encoding }
      await using bare = await startServer(BARE_SERVER, [url, encoding], workspace.signal)
      const rates = await compareRates(workspace, { ours: { url, headers }, bare: { url: bare.url, headers } })
      figures.push({
        measured: `hot page, ${encoding === 'gzip' ? 'gzip' : 'plain'}: requests/s ÷ bare node:http with the same bytes and headers`,
        value: rates.ours.requestsASecond / rates.bare.requestsASecond,
        required: { atLeast: LEAST[encoding] },
        raw: { ...rates, tool: LOAD_TOOL },
      })
    }
    figures.push(await notModified(workspace, url), await whileAppending(workspace, server.url, token))
    figures.push(...(await besideNginx(workspace, url)))
    return figures
  },
}

async function notModified(workspace: Workspace, url: string): Promise<Figure> {
  workspace.step('hot-page: 304 of ours and of bare node:http in turn')
  const { headers: known } = await fetch(url, { headers: { 'Accept-Encoding': 'gzip' } })
  const headers = { 'Accept-Encoding': 'gzip', 'If-None-Match': known.get('etag') ?? '' }
  await using bare = await startServer(BARE_SERVER, [url, 'gzip'], workspace.signal)
  const rates = await compareRates(workspace, { ours: { url, headers }, bare: { url: bare.url, headers } })
  return {
    measured: '304: requests/s ÷ bare node:http that answers 304',
    value: rates.ours.requestsASecond / rates.bare.requestsASecond,
    required: { atLeast: 0.75 },
    raw: { ...rates, tool: LOAD_TOOL },
  }
}

async function whileAppending(workspace: Workspace, serverUrl: string, token: string): Promise<Figure> {
  workspace.step('hot-page: with and without a client that appends 100 times a second, in turn')
  const collection = `${serverUrl}/${COLLECTION}`
  const plan = { url: `${collection}?page=1`, headers: { 'Accept-Encoding': 'gzip' } }
  const rates = { idle: [] as number[], busy: [] as number[] }
  if (!workspace.isTryOut) await readRate(workspace, plan)
  await inTurn(workspace.rounds, ['idle', 'busy'] as const, async (side) => {
    const appending = side === 'busy' ? appendSteadily(collection, token) : undefined
    const { requestsASecond } = await readRate(workspace, plan)
    rates[side].push(requestsASecond)
    await appending?.stop()
  })
  return {
    measured: 'hot page, gzip, while one client appends 100 times a second ÷ without',
    value: median(rates.busy) / median(rates.idle),
    required: { atLeast: 0.8 },
    raw: { ...rates, tool: LOAD_TOOL },
  }
}

/** One append after the other, each ten milliseconds after the last began. */
function appendSteadily(url: string, token: string): { stop(): Promise<void> } {
  let isStopped = false
  const done = (async () => {
    for (let due = performance.now(); !isStopped; due += 10) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const { status } = await fetch(url, { method: 'POST', headers, body: '{"appended":true}' })
      if (status !== 201) throw new Error(`An append was answered ${status}.`)
    }
  })()
  return {
    stop() {
      isStopped = true
      return done
    },
  }
}

async function besideNginx(workspace: Workspace, url: string): Promise<Figure[]> {
  if (!CAN_MEASURE_NGINX) {
    workspace.step('hot-page: nothing beside nginx, which takes nginx and wrk')
    return []
  }
  workspace.step('hot-page: ours and nginx in turn')
  const headers = { 'Accept-Encoding': 'identity' }
  const body = new Uint8Array(await (await fetch(url, { headers })).arrayBuffer())
  await using nginx = await startNginx(workspace, body)
  const rates = await compareRates(workspace, { ours: { url, headers }, nginx: { url: `${nginx.url}/page`, headers } })
  return [
    {
      measured: 'hot page, plain: requests/s ÷ nginx with the same bytes as a file, one worker, sendfile',
      value: rates.ours.requestsASecond / rates.nginx.requestsASecond,
      required: { atLeast: 0.25 },
      raw: { ...rates, tool: LOAD_TOOL },
    },
  ]
}
