/** Does a server still do its best when four times as many requests come as it can answer, and does nothing grow? */

import { formatCount } from '../../src/contract/message-text.ts'
import { runArrivals } from '../arrivals.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { mean } from '../measure.ts'
import { growthFigure, MemorySampler, readMemory, requireMemory } from '../memory.ts'
import { lackOfOpenFiles } from '../open-files.ts'
import type { Question } from '../question.ts'
import { READERS } from '../read-load.ts'
import { COLLECTION } from '../workspace.ts'

const TIMES_THE_BEST = 4
/** More than the backlog of a server holds, and few enough for the limit of open files that most systems have. */
const MAX_WAITING = 1_000
const WARM_UP_MS = 5_000
const BEST_MS = 3_000
const OVERLOAD_MS = 40_000

export const OVERLOAD: Question = {
  name: 'overload',
  needs: ['ndjson', 'store'],
  cost: { seconds: 56, secondsAMillion: 0 },
  async run(workspace) {
    const lack = lackOfOpenFiles(MAX_WAITING)
    if (lack !== undefined) return { skipped: lack }
    const { isTryOut, signal } = workspace
    await using server = await workspace.serve((await workspace.store()).path, WITHOUT_CACHE)
    const plan = { url: `${server.url}/${COLLECTION}`, pages: workspace.lastPage }
    const durationMs = isTryOut ? 400 : BEST_MS
    const runAtBest = () => runArrivals({ ...plan, durationMs, mostWaiting: READERS }, signal)
    const runOverload = (rate: number, durationMs: number) =>
      runArrivals({ ...plan, durationMs, mostWaiting: MAX_WAITING, requestsASecond: TIMES_THE_BEST * rate }, signal)

    workspace.step(`overload: as many requests as it can answer, and ${TIMES_THE_BEST} times as many`)
    if (!isTryOut) await runOverload((await runAtBest()).answersASecond, WARM_UP_MS)
    const before = requireMemory(readMemory(server.pid))
    const bestBefore = await runAtBest()
    const sampler = new MemorySampler(server.pid)
    const overload = await runOverload(bestBefore.answersASecond, isTryOut ? 400 : OVERLOAD_MS)
    sampler.stop()
    const bestAfter = await runAtBest()
    const after = requireMemory(readMemory(server.pid))
    const raw = { overload, bestBefore, bestAfter }
    return [
      {
        measured: `answers/s while ${TIMES_THE_BEST} times as many requests come as it can answer ÷ its best`,
        value: overload.answersASecond / mean([bestBefore.answersASecond, bestAfter.answersASecond]),
        required: { atLeast: 0.8 },
        raw,
        note: `One in four comes on a connection of its own. When ${formatCount(MAX_WAITING)} wait, the next one goes away.`,
      },
      {
        measured: 'how long an answer takes then, on average: in the last quarter of the time ÷ in the second',
        value: overload.lastQuarterMs / overload.secondQuarterMs,
        required: { atMost: 1.2 },
        raw,
      },
      { measured: 'how long an answer takes then, p99', value: overload.p99Ms, unit: 'ms', better: 'lower', raw },
      growthFigure('memory of the server', sampler.samples),
      {
        measured: 'memory of the server after it ÷ before',
        value: after.rssBytes / before.rssBytes,
        better: 'lower',
        raw: { before, after },
      },
    ]
  },
}
