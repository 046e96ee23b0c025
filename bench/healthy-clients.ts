/** How long healthy clients wait, with a crowd on the same server and without, in turn. */

import { setTimeout as sleep } from 'node:timers/promises'
import { lastPage } from '../src/contract/page.ts'
import type { RunningServer } from './child-process.ts'
import { type CrowdPlan, type CrowdResult, startCrowd } from './crowd.ts'
import { HealthyClient } from './healthy-client.ts'
import { inTurn, median, percentile } from './measure.ts'
import { type Memory, readMemory, requireMemory } from './memory.ts'
import type { Figure } from './question.ts'
import { readRequests } from './read-requests.ts'
import { runLoad } from './running-load.ts'
import { untilAnswered } from './until-answered.ts'
import { COLLECTION, type Workspace } from './workspace.ts'
import { writeRequests } from './write-requests.ts'

const PAGE_EVERY_MS = 10
const NEWCOMER_EVERY_MS = 20
const APPEND_EVERY_MS = 20
const WARM_UP_CONNECTIONS = 16
/** A server needs a while to be done with a crowd that has come or gone: thousands of connections are made, or cleared away. */
const SETTLE_MS = 2_000

export interface HealthyPlan {
  readonly server: RunningServer
  /** So many are in the collection. */
  readonly items: number
  /** NDJSON whose items are appended, with this token. */
  readonly file: string
  readonly token: string
  readonly crowd: CrowdPlan
}

/** One kind of request. */
export interface Waiting {
  readonly request: string
  readonly withCrowd: WaitingTimes
  readonly without: WaitingTimes
}

interface WaitingTimes {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly mostMs: number
}

export interface HealthyComparison {
  readonly waiting: readonly Waiting[]
  /** One for each round. */
  readonly crowds: readonly CrowdResult[]
  /** Of the server before the first crowd, and in each round while it is there. */
  readonly memoryBefore: Memory
  readonly memory: readonly Memory[]
}

export async function compareHealthy(workspace: Workspace, plan: HealthyPlan): Promise<HealthyComparison> {
  const { rounds, requests, signal } = workspace
  const { server, file, token } = plan
  const url = `${server.url}/${COLLECTION}`
  const read = { kind: 'read', url, pages: lastPage(plan.items) } as const
  const append = { kind: 'append', url, file, token } as const
  for (const load of workspace.isTryOut ? [] : [read, append])
    await runLoad({ ...load, connections: WARM_UP_CONNECTIONS, warmUp: 0, requests: 2 * requests }, signal)

  using reader = new HealthyClient({ url, requests: readRequests(read), everyMs: PAGE_EVERY_MS })
  const isNewcomer = true
  using newcomer = new HealthyClient({ url, requests: readRequests(read), everyMs: NEWCOMER_EVERY_MS, isNewcomer })
  using writer = new HealthyClient({ url, requests: writeRequests(append), everyMs: APPEND_EVERY_MS })
  const clients = [
    { request: 'page', client: reader, withCrowd: [] as number[], without: [] as number[] },
    { request: 'page on a new connection', client: newcomer, withCrowd: [] as number[], without: [] as number[] },
    { request: 'append', client: writer, withCrowd: [] as number[], without: [] as number[] },
  ]
  const durationMs = (requests / 2 / rounds) * PAGE_EVERY_MS
  const ask = (side: 'withCrowd' | 'without') =>
    Promise.all(clients.map(async (each) => each[side].push(...(await each.client.ask(durationMs, signal)))))

  const crowds: CrowdResult[] = []
  const memoryBefore = requireMemory(readMemory(server.pid))
  const memory: Memory[] = []
  await inTurn(rounds, ['without', 'withCrowd'] as const, async (side) => {
    const crowd = side === 'withCrowd' ? startCrowd(plan.crowd, signal) : undefined
    await crowd?.begun
    // What the server has to do when a crowd comes, or has gone, does not count.
    await untilAnswered(url, signal)
    if (!workspace.isTryOut) await sleep(SETTLE_MS, undefined, { signal })
    await ask(side)
    if (crowd === undefined) return
    memory.push(requireMemory(readMemory(server.pid)))
    crowds.push(await crowd.stop())
  })
  const waiting = clients.map(({ request, withCrowd, without }) => ({
    request,
    withCrowd: summaryOf(withCrowd),
    without: summaryOf(without),
  }))
  return { waiting, crowds, memoryBefore, memory }
}

/** `circumstance`: what the crowd does meanwhile. */
export function waitingFigures(waiting: readonly Waiting[], circumstance: string, atMost: number): Figure[] {
  return waiting.map(({ request, withCrowd, without }) => ({
    measured: `${request}, p99 ${circumstance} ÷ without`,
    value: withCrowd.p99Ms / without.p99Ms,
    required: { atMost },
    raw: { withCrowd, without },
  }))
}

function summaryOf(durationsMs: readonly number[]): WaitingTimes {
  return {
    requests: durationsMs.length,
    p50Ms: median(durationsMs),
    p99Ms: percentile(durationsMs, 99),
    mostMs: Math.max(...durationsMs),
  }
}
