/** What does one gain over the server that one would write by hand? */

import { isDeepStrictEqual } from 'node:util'
import { WITHOUT_CACHE } from '../child-process.ts'
import { compareLatencies, type Latency, type Side } from '../latency.ts'
import { FULL_ITEMS } from '../options.ts'
import { type Encoding, PageClient } from '../page-client.ts'
import type { Figure, Question } from '../question.ts'
import { LOAD_TOOL, READERS } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

/** The hand-written server takes a second a page where items are many. */
const BUDGET_MS = 5_000
/** Where in the collection pages are asked for, from its first page to its last. */
const DEPTHS = [0, 0.01, 0.1, 0.25, 0.5, 0.75, 1]
/** So many times more requests a second we answer, with the items that requirements are for. */
const LEAST = { first: 20, last: 100 } as const

interface Servers {
  readonly ours: PageClient
  readonly theirs: PageClient
}

/** Both sides at one depth. */
export interface AtDepth {
  readonly depth: number
  readonly page: number
  readonly handWritten: Latency
  readonly reams: Latency
}

export const HAND_WRITTEN: Question = {
  name: 'hand-written',
  needs: ['ndjson', 'store', 'rows'],
  cost: { seconds: 53, secondsAMillion: 16 },
  async run(workspace) {
    // Without a cache: it would answer the same page again and again.
    await using server = await workspace.serve((await workspace.store()).path, WITHOUT_CACHE)
    await using handWritten = await workspace.serveByHand((await workspace.rows()).path)
    using ours = new PageClient(server.url)
    using theirs = new PageClient(handWritten.url)
    const servers = { ours, theirs }
    for (const page of [1, workspace.lastPage]) await checkSameAnswer(servers, page)
    const gzip = await latenciesAt(DEPTHS, 'gzip', servers, workspace)
    const plain = await latenciesAt([0, 1], 'identity', servers, workspace)
    return [
      ...latencyFigures(gzip, 'gzip'),
      ...latencyFigures(plain, 'plain'),
      ...(await rateFigures(gzip, servers, workspace)),
    ]
  },
}

async function latenciesAt(
  depths: readonly number[],
  encoding: Encoding,
  { ours, theirs }: Servers,
  workspace: Workspace,
): Promise<AtDepth[]> {
  workspace.step(`hand-written: pages of both servers at ${depths.length} depths in turn, ${encoding}`)
  const pages = depths.map((depth) => Math.max(1, Math.ceil(depth * workspace.lastPage)))
  const sides = pages.flatMap((page, index): [string, Side][] => [
    [`ours ${index}`, pageOf(ours, encoding, page)],
    [`theirs ${index}`, pageOf(theirs, encoding, page)],
  ])
  const requests = Math.ceil(workspace.requests / 20)
  const options = { requests, block: 4, budgetMs: BUDGET_MS, signal: workspace.signal }
  const latencies = await compareLatencies(Object.fromEntries(sides), options)
  return depths.map((depth, index) => ({
    depth,
    page: pages[index] as number,
    handWritten: latencies[`theirs ${index}`] as Latency,
    reams: latencies[`ours ${index}`] as Latency,
  }))
}

function latencyFigures(depths: readonly AtDepth[], form: string): Figure[] {
  const [first, last] = [depths[0] as AtDepth, depths.at(-1) as AtDepth]
  return [
    {
      measured: `first page of the hand-written server ÷ ours, ${form} through HTTP, uncached, p50`,
      value: first.handWritten.p50Ms / first.reams.p50Ms,
      better: 'higher',
      raw: { handWritten: first.handWritten, reams: first.reams },
    },
    {
      measured: `last page of the hand-written server ÷ ours, ${form} through HTTP, uncached, p50`,
      value: last.handWritten.p50Ms / last.reams.p50Ms,
      better: 'higher',
      raw: { depths },
    },
  ]
}

async function rateFigures(gzip: readonly AtDepth[], servers: Servers, workspace: Workspace): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [which, { page, handWritten }] of [
    ['first', gzip[0] as AtDepth],
    ['last', gzip.at(-1) as AtDepth],
  ] as const) {
    workspace.step(`hand-written: the ${which} page of both servers in turn, ${READERS} connections`)
    const plan = { headers: { 'Accept-Encoding': 'gzip' } }
    const path = `/${COLLECTION}?page=${page}`
    const rates = await compareRates(workspace, {
      reams: { ...plan, url: servers.ours.url + path },
      // Long enough for an answer to each of the readers.
      handWritten: { ...plan, url: servers.theirs.url + path, seconds: (READERS * handWritten.p50Ms) / 1000 },
    })
    figures.push({
      measured: `${which} page: requests/s ÷ of the hand-written server, gzip, ours uncached`,
      value: rates.reams.requestsASecond / rates.handWritten.requestsASecond,
      ...(workspace.items >= FULL_ITEMS && { required: { atLeast: LEAST[which] } }),
      better: 'higher',
      raw: { ...rates, tool: LOAD_TOOL },
    })
  }
  return figures
}

function pageOf(client: PageClient, encoding: Encoding, page: number): Side {
  return { client, encoding, paths: [`/${COLLECTION}?page=${page}`] }
}

/** A server that answers something else would be no comparison. */
async function checkSameAnswer({ ours, theirs }: Servers, page: number): Promise<void> {
  const [our, their] = await Promise.all(
    [ours, theirs].map(async (client) => {
      const answer = await client.json(`/${COLLECTION}?page=${page}`, 'gzip')
      return JSON.parse(JSON.stringify(answer).replaceAll(client.url, ''))
    }),
  )
  // Nobody keeps a history by hand.
  delete our._links.snapshot
  if (!isDeepStrictEqual(our, their)) throw new Error(`The hand-written server answers page ${page} differently.`)
}
