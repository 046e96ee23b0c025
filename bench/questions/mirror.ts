/** How fast does `reams mirror` copy a collection and apply its changes, how soon does it show one, and in how much memory? */

import { setTimeout as sleep } from 'node:timers/promises'
import { formatCount } from '../../src/contract/message-text.ts'
import { allowWrites } from '../allow-writes.ts'
import type { RunningServer } from '../child-process.ts'
import { eventKey, eventTexts } from '../data.ts'
import { removeDatabase, removedAtEnd } from '../database-file.ts'
import { inTurn, median, percentile } from '../measure.ts'
import { type Memory, memoryFigures } from '../memory.ts'
import { PostClient } from '../post-client.ts'
import type { Figure, Question } from '../question.ts'
import { createRandom } from '../random.ts'
import { type LoadPlan, runLoad, sentBy, startLoad } from '../running-load.ts'
import { catchUpMs, type MirrorPlan, RunningMirror } from '../running-mirror.ts'
import { COLLECTION, type Workspace, WRITERS } from '../workspace.ts'
import { ITEMS_A_REQUEST } from '../write-requests.ts'

/** What a first load is to be measured with. */
const LOADED_ITEMS = 1_000_000
/** Requests of a pull that are on their way at once, as many as a mirror has. */
const IN_FLIGHT = 4

/** Of a round. */
const MAX_PATCHES = 100

const MAX_WRITES = 200
const PAUSE_MS = 100
/** Between two requests of the client that looks for a change. */
const ASK_EVERY_MS = 3

/** Until it is flat. */
const MEMORY_SECONDS = 40

/** No other item has it. */
const LAST_KEY = '99999999'

/** What writers need to know of the origin, and where its mirror is. */
interface Place extends MirrorPlan {
  /** Of the server of the origin. */
  readonly server: string
  readonly token: string
  /** How many items the origin begins with. */
  readonly items: number
  /** The items that writers change, as NDJSON. */
  readonly file: string
}

export const MIRROR: Question = {
  name: 'mirror',
  needs: ['sample', 'ndjson'],
  cost: { seconds: 300, secondsAMillion: 15 },
  async run(workspace) {
    return [...(await measureSpeed(workspace)), ...(await measureMemory(workspace))]
  },
}

async function measureSpeed(workspace: Workspace): Promise<Figure[]> {
  const { path: file, items } = await workspace.sample()
  const { path: plain } = await workspace.importSampleTo('plain-origin.db')
  const { path } = await workspace.importSampleTo('origin.db', ['--key', 'id'])
  const [plainStore, store] = [workspace.path('plain-mirror.db'), workspace.path('mirror.db')]
  await using removed = new AsyncDisposableStack()
  for (const each of [plain, path, plainStore, store]) removed.use(removedAtEnd(each))
  const token = await allowWrites(path)
  await using server = await workspace.serve(path)
  const { signal } = workspace
  const origin = `${server.url}/${COLLECTION}`
  const place: Place = { origin, store, signal, server: server.url, token, items, file }
  return [
    await comparePlainLoads(plain, plainStore, items, workspace),
    await compareLoads(place, 'the same of items with a key', items, workspace),
    ...(await compareChanges(place, workspace)),
    ...(await delays(place, workspace)),
  ]
}

async function comparePlainLoads(path: string, store: string, items: number, workspace: Workspace): Promise<Figure> {
  await using server = await workspace.serve(path)
  const plan = { origin: `${server.url}/${COLLECTION}`, store, signal: workspace.signal }
  const measured = `items/s of the first load of reams mirror, ${formatCount(items)} items without a key ÷ of reams pull to a file`
  return await compareLoads(plan, measured, items, workspace)
}

/** Leaves the mirror there. */
async function compareLoads(plan: MirrorPlan, measured: string, items: number, workspace: Workspace): Promise<Figure> {
  workspace.step(`mirror: the first load of ${formatCount(items)} items, and a pull of them to a file, in turn`)
  const times = { pull: [] as number[], mirror: [] as number[] }
  await inTurn(workspace.rounds, ['pull', 'mirror'] as const, async (side) => {
    if (side === 'pull') times.pull.push((await workspace.pull(plan.origin, IN_FLIGHT)).wallMs)
    else {
      await removeDatabase(plan.store)
      times.mirror.push(await catchUpMs(plan))
    }
  })
  return {
    measured,
    value: median(times.pull) / median(times.mirror),
    ...(items >= LOADED_ITEMS ? { required: { atLeast: 0.5 } } : { better: 'higher' }),
    raw: { items, mirrorMs: times.mirror, pullMs: times.pull },
  }
}

interface Rates {
  /** Of every round. */
  readonly written: number[]
  readonly applied: number[]
}

async function compareChanges(place: Place, workspace: Workspace): Promise<Figure[]> {
  const { items, file, origin: url, token } = place
  const { rounds } = workspace
  // Every item is changed at most once: the first half of them by PATCH, the others one by one.
  const half = Math.floor(items / 2 / rounds)
  const patches = Math.max(1, Math.min(MAX_PATCHES, workspace.requests, Math.floor(half / ITEMS_A_REQUEST)))
  const common = { file, url, token, warmUp: 0 } as const
  const patch: LoadPlan = { ...common, kind: 'patch-mixed', connections: 1, requests: patches }
  workspace.step(
    `mirror: ${formatCount(patches * ITEMS_A_REQUEST)} changes by PATCH, and a mirror that takes them over, in turn`,
  )
  const ofPatches = await alternate(place, rounds, patch, 0)
  const requests = Math.max(1, Math.min(workspace.requests, Math.floor((half - WRITERS) * 0.8)))
  const change: LoadPlan = { ...common, kind: 'change', connections: WRITERS, requests }
  workspace.step(`mirror: ${formatCount(requests)} changes one by one, and a mirror that takes them over, in turn`)
  const ofSingles = await alternate(place, rounds, change, rounds * patches * ITEMS_A_REQUEST)
  return [
    {
      measured: `changes/s that a mirror applies ÷ that come in by PATCH, ${formatCount(ITEMS_A_REQUEST)} a request, most of them replaces of random items`,
      ...ratioOf(ofPatches),
      required: { atLeast: 0.7 },
    },
    {
      measured: `the same of replaces and deletes one by one, ${WRITERS} connections`,
      ...ratioOf(ofSingles),
      better: 'higher',
    },
  ]
}

/** Writes while no mirror runs, then lets the mirror catch up. `skip` changes were sent before. */
async function alternate(place: Place, rounds: number, load: LoadPlan, skip: number): Promise<Rates> {
  const rates: Rates = { written: [], applied: [] }
  const itemsARequest = load.kind === 'change' ? 1 : ITEMS_A_REQUEST
  const changes = sentBy(load) * itemsARequest
  await inTurn(rounds, [load], async (plan, round) => {
    const { requests, durationMs } = await runLoad({ ...plan, skip: skip + round * changes } as LoadPlan, place.signal)
    rates.written.push((requests * itemsARequest) / (durationMs / 1000))
    const busyMs = await catchUpMs(place)
    // Starting a process, and finding that there is nothing to do.
    const idleMs = await catchUpMs(place)
    rates.applied.push(changes / (Math.max(1, busyMs - idleMs) / 1000))
  })
  return rates
}

function ratioOf({ written, applied }: Rates): Pick<Figure, 'value' | 'raw'> {
  return {
    value: median(applied) / median(written),
    raw: { appliedASecond: applied, writtenASecond: written },
  }
}

async function delays(place: Place, workspace: Workspace): Promise<Figure[]> {
  const { token, items } = place
  const writes = Math.min(MAX_WRITES, Math.ceil(workspace.requests / 10))
  await using mirror = new RunningMirror(place)
  await using server = await workspace.serve(place.store)
  using writer = new PostClient(place.server, token)
  const random = createRandom(9)
  const delaysMs: number[] = []
  workspace.step(`mirror: from the acknowledged write to the answer of the mirror, ${writes} times`)
  // As long as the compilers of all three processes are not done, the client waits for that.
  for (let write = -Math.ceil(writes / 2); write < writes; write++) {
    workspace.signal.throwIfAborted()
    await sleep(random(PAUSE_MS))
    const key = eventKey(random(items))
    const seats = 10_000 + write
    await put(writer, key, seats)
    const acknowledgedAt = performance.now()
    await mirror.until(() => hasSeats(server, key, seats), ASK_EVERY_MS)
    if (write >= 0) delaysMs.push(performance.now() - acknowledgedAt)
  }
  const raw = { writes, p50Ms: percentile(delaysMs, 50), p99Ms: percentile(delaysMs, 99) }
  return [
    {
      measured: 'from the acknowledged write at the origin to the answer of its mirror over HTTP, p50',
      value: raw.p50Ms,
      unit: 'ms',
      required: { atMost: 50 },
      raw,
    },
    { measured: 'the same, p99', value: raw.p99Ms, unit: 'ms', better: 'lower', raw },
  ]
}

async function put(writer: PostClient, key: string, seats: number): Promise<void> {
  const [event = ''] = eventTexts(1)
  const { status } = await writer.put(`${COLLECTION}/${key}`, { ...JSON.parse(event), id: Number(key), seats })
  if (status > 299) throw new Error(`A write was answered ${status}.`)
}

/** Whether a server shows what was put. */
async function hasSeats({ url }: RunningServer, key: string, seats: number): Promise<boolean> {
  const response = await fetch(`${url}/${COLLECTION}/${key}`)
  const text = await response.text()
  return response.ok && JSON.parse(text).seats === seats
}

async function measureMemory(workspace: Workspace): Promise<Figure[]> {
  const { items } = workspace
  const { path } = await workspace.importTo('all-origin.db', ['--key', 'id'])
  const store = workspace.path('all-mirror.db')
  await using _origin = removedAtEnd(path)
  await using _mirror = removedAtEnd(store)
  const token = await allowWrites(path)
  await allowWrites(store)
  await using server = await workspace.serve(path)
  const { path: file } = await workspace.sample()
  const origin = `${server.url}/${COLLECTION}`
  const place: Place = { origin, store, signal: workspace.signal, server: server.url, token, items, file }
  return memoryFigures(`reams mirror, ${formatCount(items)} items`, await loadAndChange(place, workspace), 250)
}

/** Samples from when all is loaded on: the peak is one of the whole process. */
async function loadAndChange(place: Place, workspace: Workspace): Promise<readonly Memory[]> {
  const { file, origin: url, token, signal } = place
  workspace.step(`mirror: the first load of ${formatCount(place.items)} items`)
  await using server = await workspace.serve(place.store)
  await using mirror = new RunningMirror(place)
  await mirror.until(async () => (await fetch(`${server.url}/${COLLECTION}`, { method: 'HEAD' })).ok)
  const loadedAt = mirror.memory.length
  workspace.step('mirror: changes by PATCH, as many as go in')
  const load = startLoad({ kind: 'patch', file, url, token, connections: 1, warmUp: 0 }, signal)
  await load.begun
  await sleep(workspace.isTryOut ? 2_000 : MEMORY_SECONDS * 1_000, undefined, { signal })
  await load.stop()
  using writer = new PostClient(place.server, token)
  await put(writer, LAST_KEY, 1)
  await mirror.until(() => hasSeats(server, LAST_KEY, 1))
  return mirror.memory.slice(loadedAt)
}
