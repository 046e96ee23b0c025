/** What does one gain over the server that one would write by hand? */

import { isDeepStrictEqual } from 'node:util'
import { compareLatencies, type Latency, type Side } from '../latency.ts'
import { type Encoding, PageClient } from '../page-client.ts'
import type { Figure, Question } from '../question.ts'
import { COLLECTION } from '../workspace.ts'

/** The hand-written server takes seconds a page where items are many. */
const BUDGET_MS = 8_000

export const HAND_WRITTEN: Question = {
  name: 'hand-written',
  needs: ['ndjson', 'store', 'rows'],
  cost: { seconds: 10, secondsAMillion: 3 },
  async run(workspace) {
    const { lastPage, requests, signal } = workspace
    await using server = await workspace.serve((await workspace.store()).path)
    await using handWritten = await workspace.serveByHand((await workspace.rows()).path)
    using ours = new PageClient(server.url)
    using theirs = new PageClient(handWritten.url)
    for (const page of [1, lastPage]) await checkSameAnswer(ours, theirs, page)

    const figures: Figure[] = []
    for (const encoding of ['gzip', 'identity'] as const) {
      workspace.step(`hand-written: first and last page of both servers in turn, ${encoding}`)
      const latencies = await compareLatencies(
        {
          ourFirst: pageOf(ours, encoding, 1),
          theirFirst: pageOf(theirs, encoding, 1),
          ourLast: pageOf(ours, encoding, lastPage),
          theirLast: pageOf(theirs, encoding, lastPage),
        },
        { requests: Math.ceil(requests / 20), block: 4, budgetMs: BUDGET_MS, signal },
      )
      figures.push(figure('first', encoding, latencies.theirFirst, latencies.ourFirst))
      figures.push(figure('last', encoding, latencies.theirLast, latencies.ourLast))
    }
    return figures
  },
}

function figure(which: string, encoding: Encoding, handWritten: Latency, reams: Latency): Figure {
  const form = encoding === 'gzip' ? 'gzip' : 'plain'
  return {
    measured: `${which} page of the hand-written server ÷ ours, ${form} through HTTP, p50`,
    value: handWritten.p50Ms / reams.p50Ms,
    raw: { handWritten, reams },
  }
}

function pageOf(client: PageClient, encoding: Encoding, page: number): Side {
  return { client, encoding, paths: [`/${COLLECTION}?page=${page}`] }
}

/** A server that answers something else would be no comparison. */
async function checkSameAnswer(ours: PageClient, theirs: PageClient, page: number): Promise<void> {
  const [our, their] = await Promise.all(
    [ours, theirs].map(async (client) => {
      const answer = await client.json(`/${COLLECTION}?page=${page}`, 'gzip')
      return JSON.parse(JSON.stringify(answer).replaceAll(client.url, ''))
    }),
  )
  if (!isDeepStrictEqual(our, their)) throw new Error(`The hand-written server answers page ${page} differently.`)
}
