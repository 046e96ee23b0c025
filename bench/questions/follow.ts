/** How many changes of a table does `reams follow` keep up with, how soon, and what does the table pay for it? */

import { setTimeout as sleep } from 'node:timers/promises'
import { formatCount } from '../../src/contract/message-text.ts'
import { removedAtEnd } from '../database-file.ts'
import { inTurn, mean, median, percentile } from '../measure.ts'
import { type Memory, memoryFigures } from '../memory.ts'
import { PageClient } from '../page-client.ts'
import { askPostgres } from '../postgres/ask.ts'
import { makeEventTable } from '../postgres/event-table.ts'
import { type FollowPlan, RunningFollower, unfollow } from '../postgres/follower.ts'
import { findPgbench, SOURCE_WRITERS, type Updates, updateRows } from '../postgres/pgbench.ts'
import type { Figure } from '../question.ts'
import { createRandom } from '../random.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

const MAX_ROWS = 1_000_000

/** Changes a second, and how long each rate lasts. */
const RATES = [500, 1_000, 2_000, 3_000, 4_000, 6_000, 8_000]
const RATE_SECONDS = 15
/** More changes than come in so long wait in the last third of the time than in the one before: then the queue grows. */
const MAX_GROWTH_SECONDS = 1
const COUNT_EVERY_MS = 100

const WRITE_SECONDS = 10

const MAX_CHANGES = 200
const SHORT_EVERY_MS = 200
/** Between two changes, so that they come at any time of the follower's interval. */
const PAUSE_MS = 300
/** Between two requests of the client that looks for a change. */
const ASK_EVERY_MS = 3

/** Until it is flat. */
const MEMORY_SECONDS = 40
const MEMORY_RATE = 500

export const FOLLOW = askPostgres({
  name: 'follow',
  needs: [],
  cost: { seconds: 430, secondsAMillion: 20 },
  async run(postgres, workspace) {
    if ((await findPgbench()) === undefined) return { skipped: 'it needs pgbench' }
    const rows = Math.min(workspace.items, MAX_ROWS)
    workspace.step('follow: making the table')
    const table = await makeEventTable(postgres, 'followed', rows)
    const store = workspace.path('followed.db')
    await using _database = removedAtEnd(store)
    const plan: FollowPlan = { postgres, table, store, signal: workspace.signal }
    const updates = { url: postgres.url, table, rows, seconds: workspace.isTryOut ? 1 : WRITE_SECONDS }
    const figures = [
      await keepUp(plan, updates, workspace),
      ...(await compareWriters(plan, updates, workspace)),
      ...(await delays(plan, rows, workspace)),
    ]
    await unfollow(plan)
    await postgres.drop('followed')
    return [...figures, ...(await memoryOf(postgres, workspace))]
  },
})

interface Step {
  /** What the writers did, of what they were to do. */
  readonly changesASecond: number
  /** How many waited in the last third of the time, as seconds of changes, and how many more than in the one before. */
  readonly waitingSeconds: number
  readonly growthSeconds: number
}

async function keepUp(plan: FollowPlan, updates: Updates, workspace: Workspace): Promise<Figure> {
  workspace.step(`follow: loading ${formatCount(updates.rows)} rows`)
  await using follower = await RunningFollower.start(plan)
  const steps: Step[] = []
  let best = 0
  let misses = 0
  for (const rate of workspace.isTryOut ? RATES.slice(0, 1) : RATES) {
    workspace.step(`follow: ${formatCount(rate)} changes a second`)
    const seconds = workspace.isTryOut ? 3 : RATE_SECONDS
    const step = await tryRate(follower, { ...updates, seconds, rate }, workspace)
    steps.push(step)
    await follower.untilDone()
    const isKept = step.growthSeconds <= MAX_GROWTH_SECONDS || workspace.isTryOut
    if (isKept) best = step.changesASecond
    misses = isKept ? 0 : misses + 1
    // Something else may have kept the machine busy once. Nor does it help to want more than the writers can do.
    if (misses === 2 || step.changesASecond < rate * 0.9) break
  }
  return {
    measured: `changes/s that reams follow keeps up with: random rows of ${formatCount(updates.rows)}, ${SOURCE_WRITERS} writers`,
    value: best,
    ...(updates.rows >= MAX_ROWS ? { required: { atLeast: 3_000 } } : { better: 'higher' }),
    unit: 'changes/s',
    raw: { steps },
    note: `${steps.map(({ changesASecond, waitingSeconds }) => `${formatCount(changesASecond)}/s: ${waitingSeconds.toFixed(1)} s of changes waiting`).join('; ')}.`,
  }
}

async function tryRate(follower: RunningFollower, updates: Updates, workspace: Workspace): Promise<Step> {
  const counts: number[] = []
  const end = new AbortController()
  const counting = (async () => {
    while (!end.signal.aborted) {
      counts.push(await follower.waiting())
      await sleep(COUNT_EVERY_MS)
    }
  })()
  try {
    const changesASecond = await updateRows(updates, workspace)
    const [, middle = 0, last = 0] = [0, 1, 2].map((third) => mean(thirdOf(counts, third)) / changesASecond)
    return { changesASecond, waitingSeconds: last, growthSeconds: last - middle }
  } finally {
    end.abort()
    await counting
  }
}

function thirdOf(counts: readonly number[], third: number): number[] {
  const length = Math.floor(counts.length / 3)
  return counts.slice(third * length, (third + 1) * length)
}

/** The writers as fast as they can: without triggers, with them, and with the follower beside them. */
async function compareWriters(plan: FollowPlan, updates: Updates, workspace: Workspace): Promise<Figure[]> {
  const sides = ['without', 'triggers', 'without, prepared', 'triggers, prepared', 'follower'] as const
  const rates = Object.fromEntries(sides.map((side) => [side, [] as number[]])) as Record<
    (typeof sides)[number],
    number[]
  >
  await plan.postgres.settle()
  await updateRows({ ...updates, seconds: 1 }, workspace)
  await inTurn(workspace.rounds, sides, async (side) => {
    workspace.step(`follow: ${SOURCE_WRITERS} writers as fast as they can, ${side}`)
    await using _follower = side === 'follower' ? await RunningFollower.start(plan) : undefined
    const protocol = side.endsWith('prepared') ? 'prepared' : 'simple'
    const isWithout = side.startsWith('without')
    // One table for all: what updates leave behind in it makes the next ones slower.
    if (isWithout) await plan.postgres.execute(`ALTER TABLE ${plan.table} DISABLE TRIGGER USER`)
    rates[side].push(await updateRows({ ...updates, protocol }, workspace))
    if (isWithout) await enableTriggers(plan)
  })
  const ratio = (some: (typeof sides)[number], others: (typeof sides)[number]) => ({
    value: median(rates[some]) / median(rates[others]),
    raw: { commitsASecond: rates[some], withoutTriggers: rates[others] },
  })
  return [
    {
      measured: `commits/s of ${SOURCE_WRITERS} writers of single rows, with the triggers ÷ without`,
      ...ratio('triggers', 'without'),
      required: { atLeast: 0.75 },
    },
    {
      measured: 'the same of writers that do nothing else and prepare their statements',
      ...ratio('triggers, prepared', 'without, prepared'),
      better: 'higher',
    },
    {
      measured: 'commits/s of the writers with the follower on the same machine ÷ without',
      ...ratio('follower', 'without'),
      better: 'higher',
    },
  ]
}

async function enableTriggers({ postgres, table }: FollowPlan): Promise<void> {
  await postgres.execute(`DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tgname FROM pg_trigger WHERE tgrelid = '${table}'::regclass AND NOT tgisinternal LOOP
      EXECUTE format('ALTER TABLE ${table} ENABLE ALWAYS TRIGGER %I', name);
    END LOOP; END $$`)
}

async function delays(plan: FollowPlan, rows: number, workspace: Workspace): Promise<Figure[]> {
  const changes = Math.min(MAX_CHANGES, Math.ceil(workspace.requests / 10))
  await using _follower = await RunningFollower.start(plan, ['--every', `${SHORT_EVERY_MS}ms`])
  await using server = await workspace.serve(plan.store)
  using client = new PageClient(server.url)
  const source = await plan.postgres.connect()
  const random = createRandom(9)
  const delaysMs: number[] = []
  workspace.step(`follow: from the commit to the answer, ${changes} times`)
  // The first ones bring the server up to speed.
  for (let change = -Math.ceil(changes / 10); change < changes; change++) {
    workspace.signal.throwIfAborted()
    await sleep(random(PAUSE_MS))
    const id = random(rows) + 1
    const venue = `moved-${change}`
    await source.query(`UPDATE ${plan.table} SET venue = $1 WHERE id = $2`, [venue, id])
    const committedAt = performance.now()
    while (((await client.json(`/${COLLECTION}/${id}`, 'identity')) as { venue: string }).venue !== venue)
      await sleep(ASK_EVERY_MS)
    if (change >= 0) delaysMs.push(performance.now() - committedAt)
  }
  await source.end()
  const raw = { changes, p50Ms: percentile(delaysMs, 50), p99Ms: percentile(delaysMs, 99) }
  return [
    {
      measured: `from the commit in the table to the answer over HTTP, --every ${SHORT_EVERY_MS}ms, p50`,
      value: raw.p50Ms,
      unit: 'ms',
      required: { atMost: 300 },
      raw,
    },
    { measured: 'the same, p99', value: raw.p99Ms, unit: 'ms', required: { atMost: 1_000 }, raw },
  ]
}

async function memoryOf(postgres: FollowPlan['postgres'], workspace: Workspace): Promise<Figure[]> {
  const { items: rows, signal } = workspace
  workspace.step('follow: making a table of all rows')
  const table = await makeEventTable(postgres, 'all', rows)
  const store = workspace.path('all-followed.db')
  await using _database = removedAtEnd(store)
  const plan: FollowPlan = { postgres, table, store, signal }
  const memory = await loadAndFollow(plan, rows, workspace)
  await unfollow(plan)
  await postgres.drop('all')
  return memoryFigures(`reams follow, ${formatCount(rows)} rows`, memory, 250)
}

/** Samples from when all is loaded on: the peak is one of the whole process. */
async function loadAndFollow(plan: FollowPlan, rows: number, workspace: Workspace): Promise<readonly Memory[]> {
  workspace.step(`follow: loading ${formatCount(rows)} rows`)
  await using follower = await RunningFollower.start(plan)
  const loadedAt = follower.memory.length
  const seconds = workspace.isTryOut ? 2 : MEMORY_SECONDS
  workspace.step(`follow: ${formatCount(MEMORY_RATE)} changes a second`)
  await updateRows({ url: plan.postgres.url, table: plan.table, rows, seconds, rate: MEMORY_RATE }, workspace)
  await follower.untilDone()
  return follower.memory.slice(loadedAt)
}
