/** Runs cases against the servers, many at a time, judges each, and checks the servers at the end. */

import { formatBytes, formatDuration } from '../../src/cli/output.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { formatCount } from '../../src/contract/message-text.ts'
import { chosen, type Weighted } from '../faults/chosen.ts'
import { openSocket } from '../service/raw-http.ts'
import { waitUntil } from '../wait-until.ts'
import { Dice } from './dice.ts'
import { exchange, type Transcript } from './exchange.ts'
import { type Finding, Findings, shown } from './findings.ts'
import { FuzzedServer } from './fuzzed-server.ts'
import { KINDS, type Kind } from './grammar/kinds.ts'
import { judge } from './judge.ts'
import { answersDue } from './message.ts'
import { describeDelivery, type Plan, planOf } from './plan.ts'
import { readerFlaw } from './reader-cases.ts'
import { SITES } from './site.ts'

const AT_ONCE = 32
/** Undefined is a file for the readers, which needs no server. */
const CASES: Weighted<Kind | undefined> = [
  ...Object.values(KINDS).map((kind) => [kind.weight, kind] as const),
  [20, undefined],
]
/** After fewer cases, in half the run, the memory of a server grows for good reasons: V8 and malloc take time to settle. */
const WARM_CASES = 1_000
/** Of each server, before its memory is looked at. */
const SETTLING_REQUESTS = 2_000
/** How much larger a server may be at the end than when it was warm. In two minutes that is some 40 KB a connection, in ten 8 KB. */
const MAX_GROWTH_BYTES = 80_000_000
/** The server closes a connection on which nothing happens after 65 seconds, and looks every ten. */
const LEFT_OPEN_MS = 85_000
/** A line for whoever waits, no more often than so many cases. */
const CASES_A_LINE = 2_000

export interface FuzzOptions {
  readonly seed: number
  /** How long new cases are begun. Default: until there were as many as `cases`. */
  readonly ms?: number
  /** Default: as many as there is time for. */
  readonly cases?: number
  /** These cases alone, one after the other. Default: all, from the first on. */
  readonly only?: readonly number[]
  readonly signal?: AbortSignal
  /** Receives the first of every kind. */
  readonly onFinding?: (finding: Finding) => void
  /** Receives every exchange. */
  readonly onExchange?: (number: number, plan: Plan, transcript: Transcript) => void
  /** Receives now and then how many cases were begun. */
  readonly onProgress?: (cases: number) => void
}

export interface FuzzReport {
  readonly findings: readonly Finding[]
  /** The figures of the run. */
  readonly lines: readonly string[]
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  await using resources = new AsyncDisposableStack()
  const { path: directory } = resources.use(new TemporaryDirectory())
  const findings = new Findings(options.onFinding)
  const created = SITES.map(async (site) => resources.use(await FuzzedServer.create(site, directory, findings)))
  const run = new Run(options, await Promise.all(created), findings)
  const lines = await (options.only ? run.only(options.only) : run.all())
  await Promise.all(run.servers.map((server) => server.check()))
  return { findings: findings.all, lines }
}

class Run {
  readonly servers: readonly FuzzedServer[]
  readonly #options: FuzzOptions
  readonly #findings: Findings
  #cases = 0
  #spentMs = 0
  #connections = 0
  /** How often each status was answered. */
  readonly #statuses = new Map<number, number>()

  constructor(options: FuzzOptions, servers: readonly FuzzedServer[], findings: Findings) {
    this.#options = options
    this.servers = servers
    this.#findings = findings
  }

  /** What a case writes is other items every time that it runs. */
  async only(numbers: readonly number[]): Promise<string[]> {
    for (const [round, number] of numbers.entries()) {
      this.#options.signal?.throwIfAborted()
      await this.#case(number, `c${number}.${round}`)
    }
    return []
  }

  /** Two halves with a rest after each, so that the memory of the servers can be compared. */
  async all(): Promise<string[]> {
    await this.#until(0.5)
    const isWarm = this.#cases >= WARM_CASES
    const settlingRequests = Math.min(SETTLING_REQUESTS, this.#cases)
    const memoryAtRest = () => Promise.all(this.servers.map((server) => server.memoryAtRest(settlingRequests)))
    const warm = await memoryAtRest()
    await this.#until(1)
    const last = await memoryAtRest()
    const statuses = [...this.#statuses].sort().map(([status, count]) => `${formatCount(count)} × ${status}`)
    const lines = [
      `${formatCount(this.#cases)} cases in ${formatDuration(this.#spentMs)}, ${formatCount(this.#connections)} connections`,
      `answers: ${statuses.join(', ')}`,
    ]
    for (const [index, server] of this.servers.entries()) {
      const [before = 0, after = 0] = [warm[index], last[index]]
      const { site, bystanderAnswers, slowestBystanderMs, ledger } = server
      if (isWarm && after - before > MAX_GROWTH_BYTES)
        this.#findings.add(`the memory of the server "${site.name}" grew`)
      lines.push(
        `${site.name}: ${formatBytes(before)} of memory when warm, ${formatBytes(after)} at the end; ${formatCount(bystanderAnswers)} answers to the bystander, the slowest after ${formatDuration(slowestBystanderMs)}; ${formatCount(ledger.acknowledged)} items acknowledged`,
      )
    }
    return lines
  }

  /** Case after case, until so much of the whole run is done or a server has died. */
  async #until(part: number): Promise<void> {
    const startedAt = performance.now() - this.#spentMs
    const { ms = Number.POSITIVE_INFINITY, cases = Number.POSITIVE_INFINITY, signal, onProgress } = this.#options
    const isOver = () =>
      this.#cases >= cases * part ||
      performance.now() - startedAt >= ms * part ||
      this.servers.some(({ isDead }) => isDead)
    const work = async () => {
      while (!isOver()) {
        signal?.throwIfAborted()
        const number = ++this.#cases
        if (number % CASES_A_LINE === 0) onProgress?.(number)
        await this.#case(number, `c${number}`)
      }
    }
    for (const server of this.servers) server.watch()
    const idlers = part === 1 && ms > LEFT_OPEN_MS && ms < Number.POSITIVE_INFINITY ? this.#leaveOpen() : undefined
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    await idlers
    for (const server of this.servers) await server.endWatch()
    this.#spentMs = performance.now() - startedAt
  }

  /** Makes a case from its number, carries it out, and records what is wrong. */
  async #case(number: number, id: string): Promise<void> {
    const dice = new Dice(this.#options.seed, number)
    const kind = chosen(CASES, dice.below)
    if (kind !== undefined) return this.#talk(number, dice, kind, id)
    const flaw = await readerFlaw(dice)
    if (flaw !== undefined) this.#findings.add(flaw[0], [number], flaw[1])
  }

  async #talk(number: number, dice: Dice, kind: Kind, id: string): Promise<void> {
    // Its number picks the server, so that a case goes to the same one in every run.
    const server = this.servers[number % this.servers.length] as FuzzedServer
    const { site, port } = server
    let count = 0
    const plan = planOf(dice, kind, { site, port, nextId: () => `${id}-${count++}` })
    server.begin(number)
    const transcript = await exchange(port, plan)
    this.#noteAnswers(server, plan, transcript)
    this.#options.onExchange?.(number, plan, transcript)
    const flaws = judge(plan, transcript)
    const isBroken = flaws.length > 0 || ['reset by the server', 'not connected'].includes(transcript.ending)
    // When the process dies all its connections break. Only the death is the finding then.
    if (isBroken && (await server.hasDied())) return
    for (const flaw of flaws) this.#findings.add(flaw, [number], describeExchange(plan, transcript).join('\n'))
  }

  #noteAnswers({ ledger }: FuzzedServer, { messages }: Plan, { reader, sentMessages }: Transcript): void {
    this.#connections++
    for (const { status } of reader.answers) this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    const due = answersDue(messages.slice(0, sentMessages))
    for (const [index, { appends }] of messages.entries())
      if (appends !== undefined) ledger.note(appends, index < due ? reader.answers[index]?.status : undefined)
  }

  /** Connections in each of these states have to be closed. */
  async #leaveOpen(): Promise<void> {
    const leave = async (port: number, state: string, sent: string) => {
      const socket = (await openSocket(port)).on('error', () => {}).resume()
      socket.write(sent)
      const isClosed = waitUntil(() => socket.closed, LEFT_OPEN_MS)
      await isClosed.catch(() => this.#findings.add(`a connection that is ${state} is not closed in time`))
      socket.destroy()
    }
    const ports = this.servers.map(({ port }) => port)
    await Promise.all(ports.flatMap((port) => STATES.map(([state, sent]) => leave(port, state, sent))))
  }
}

const STATES = [
  ['silent', ''],
  ['in the midst of a head', 'GET /-/health HTTP/1.1\r\nHost: local'],
  ['idle after an answer', 'GET /-/health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
] as const

/** What was sent, up to so many bytes, and answered, in lines for people. */
export function describeExchange({ delivery }: Plan, { ending, sent, reader }: Transcript, most?: number): string[] {
  return [
    `delivery: ${describeDelivery(delivery)}`,
    `sent: ${shown(sent, most)}`,
    ...reader.answers.map(
      ({ status, headers, body }) => `answer ${status}: ${JSON.stringify([...headers])} ${shown(body)}`,
    ),
    ...(reader.rest.length === 0 ? [] : [`rest: ${shown(reader.rest)}`]),
    `the connection was ${ending}`,
  ]
}
