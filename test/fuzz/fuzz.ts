/** Runs cases against the servers, many at a time, and checks the servers at the end. */

import { join } from 'node:path'
import { openStore, StoreLocation } from '../../src/cli/open-store.ts'
import { formatBytes, formatDuration } from '../../src/cli/output.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { formatCount } from '../../src/contract/message-text.ts'
import { openSocket } from '../service/raw-http.ts'
import { CaseRunner, type CaseRunnerOptions } from './case-runner.ts'
import { type Finding, Findings } from './findings.ts'
import { FuzzedServer } from './fuzzed-server.ts'
import { makeStore, SITES } from './site.ts'

const AT_ONCE = 32
/** Part of the run after which the servers count as warm: V8 and malloc take their time to find their size. */
const WARM_UP = 0.5
/** After fewer cases the memory of a server grows for good reasons. */
const WARM_CASES = 1_000
/** Of each server, before its memory is looked at. */
const SETTLING_REQUESTS = 2_000
/** How much larger a server may be at the end than when it was warm. In two minutes that is some 40 KB a connection, in ten 8 KB. */
const MAX_GROWTH_BYTES = 80_000_000
/** The server closes a connection on which nothing happens after 65 seconds, and looks every ten. */
const LEFT_OPEN_MS = 85_000
/** A line for whoever waits, no more often than so many cases. */
const CASES_A_LINE = 2_000

export interface FuzzOptions extends Pick<CaseRunnerOptions, 'seed' | 'without' | 'onExchange'> {
  /** How long new cases are begun. Default: until there were as many as `cases`. */
  readonly ms?: number
  /** Default: as many as there is time for. */
  readonly cases?: number
  readonly signal?: AbortSignal
  /** Told of the first of every kind. */
  readonly onFinding?: (finding: Finding) => void
  /** Told now and then how many cases were begun. */
  readonly onProgress?: (cases: number) => void
}

export interface RepeatOptions extends FuzzOptions {
  /** The numbers of the cases. */
  readonly only: readonly number[]
  /** How often each. */
  readonly times: number
}

export interface FuzzReport {
  readonly findings: readonly Finding[]
  /** The figures of the run. */
  readonly lines: readonly string[]
}

/** Runs case after case until the time is over. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  await using resources = new AsyncDisposableStack()
  const ground = await prepare(options, resources)
  const { servers, runner, findings } = ground
  const startedAt = performance.now()
  const phases = new Phases(options, ground)
  await phases.run(WARM_UP)
  const isWarm = phases.cases >= WARM_CASES
  const settlingRequests = Math.min(SETTLING_REQUESTS, phases.cases)
  const memoryAtRest = () => Promise.all(servers.map((server) => server.memoryAtRest(settlingRequests)))
  const warm = await memoryAtRest()
  await phases.run(1)
  const last = await memoryAtRest()
  for (const [index, { site, restarts }] of servers.entries()) {
    const hasGrown = (last[index] ?? 0) - (warm[index] ?? 0) > MAX_GROWTH_BYTES
    if (isWarm && restarts === 0 && hasGrown) findings.add(`the memory of the server "${site.name}" grew`)
  }
  await Promise.all(servers.map((server) => server.check()))
  const statuses = [...runner.statuses].sort().map(([status, count]) => `${formatCount(count)} × ${status}`)
  return {
    findings: findings.all,
    lines: [
      `${formatCount(phases.cases)} cases in ${formatDuration(performance.now() - startedAt)}, ${formatCount(runner.connections)} connections`,
      `answers: ${statuses.join(', ')}`,
      ...servers.map((server, index) => describe(server, warm[index], last[index])),
    ],
  }
}

/** Runs the given cases one after the other. */
export async function repeat(options: RepeatOptions): Promise<FuzzReport> {
  await using resources = new AsyncDisposableStack()
  const { servers, runner, findings } = await prepare(options, resources)
  for (let round = 0; round < options.times; round++)
    for (const number of options.only) {
      options.signal?.throwIfAborted()
      await runner.run(number, round)
    }
  await Promise.all(servers.map((server) => server.check()))
  return { findings: findings.all, lines: [] }
}

function describe({ site, bystanderAnswers, slowestBystanderMs, ledger }: FuzzedServer, warm = 0, last = 0): string {
  return [
    `${site.name}: ${formatBytes(warm)} of memory when warm, ${formatBytes(last)} at the end`,
    `${formatCount(bystanderAnswers)} answers to the bystander, the slowest after ${formatDuration(slowestBystanderMs)}`,
    `${formatCount(ledger.acknowledged)} items acknowledged`,
  ].join('; ')
}

interface Ground {
  readonly servers: readonly FuzzedServer[]
  readonly runner: CaseRunner
  readonly findings: Findings
}

/** Starts the servers. Whatever has to be ended goes into `resources`. */
async function prepare(options: FuzzOptions, resources: AsyncDisposableStack): Promise<Ground> {
  const { seed, without, onExchange, onFinding } = options
  const findings = new Findings(onFinding)
  const { path: directory } = resources.use(new TemporaryDirectory())
  const path = join(directory, 'tokens.db')
  await makeStore(path)
  const store = await openStore(new StoreLocation(path))
  resources.defer(() => store.close())
  const servers = []
  for (const site of SITES) servers.push(resources.use(await FuzzedServer.create(site, directory, findings)))
  const runner = new CaseRunner({ seed, servers, store, findings, without, ...(onExchange && { onExchange }) })
  return { servers, runner, findings }
}

/** Cases by their numbers, in phases with a rest between them. */
class Phases {
  readonly #options: FuzzOptions
  readonly #ground: Ground
  #spentMs = 0
  cases = 0

  constructor(options: FuzzOptions, ground: Ground) {
    this.#options = options
    this.#ground = ground
  }

  /** Goes on until so much of the whole run is done. */
  async run(part: number): Promise<void> {
    const startedAt = performance.now()
    const { ms = Number.POSITIVE_INFINITY, cases = Number.POSITIVE_INFINITY, signal, onProgress } = this.#options
    const { servers, runner } = this.#ground
    const spentMs = () => this.#spentMs + performance.now() - startedAt
    const isOver = () => this.cases >= cases * part || spentMs() >= ms * part
    const work = async () => {
      while (!isOver()) {
        signal?.throwIfAborted()
        if (++this.cases % CASES_A_LINE === 0) onProgress?.(this.cases)
        await runner.run(this.cases)
      }
    }
    for (const server of servers) server.watch()
    const idlers = part === 1 && ms > LEFT_OPEN_MS && ms < Number.POSITIVE_INFINITY ? this.#leaveOpen() : undefined
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    await idlers
    for (const server of servers) await server.endWatch()
    this.#spentMs = spentMs()
  }

  async #leaveOpen(): Promise<void> {
    const { servers, findings } = this.#ground
    for (const flaw of (await Promise.all(servers.map(({ port }) => leftOpen(port, LEFT_OPEN_MS)))).flat())
      findings.add(flaw)
  }
}

const HALF_A_HEAD = 'GET /-/health HTTP/1.1\r\nHost: local'
const WHOLE_REQUEST = 'GET /-/health HTTP/1.1\r\nHost: localhost\r\n\r\n'
const STATES = { silent: '', 'in the midst of a head': HALF_A_HEAD, 'idle after an answer': WHOLE_REQUEST }

/** Which connections are still open after `limitMs`, in words. */
export async function leftOpen(port: number, limitMs: number): Promise<string[]> {
  const open = await Promise.all(
    Object.entries(STATES).map(async ([state, sent]) => ((await isClosed(port, sent, limitMs)) ? [] : [state])),
  )
  return open.flat().map((state) => `a connection that is ${state} is not closed in time`)
}

async function isClosed(port: number, sent: string, limitMs: number): Promise<boolean> {
  const socket = await openSocket(port)
  socket.on('error', () => {})
  socket.resume()
  socket.write(sent)
  const { promise: closed, resolve } = Promise.withResolvers<boolean>()
  socket.once('close', () => resolve(true))
  const timer = setTimeout(resolve, limitMs, false)
  try {
    return await closed
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}
