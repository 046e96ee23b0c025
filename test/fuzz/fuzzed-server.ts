/** A server under fuzz: the real program on a store of its own, and what can be seen of it from outside. */

import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from '../../bench/memory.ts'
import { Connection } from '../faults/connection.ts'
import { ReamsProcess, runReams } from '../faults/reams-process.ts'
import { Findings as WalkFindings } from '../faults/report.ts'
import { walk } from '../faults/walk.ts'
import { waitUntil } from '../wait-until.ts'
import type { Findings } from './findings.ts'
import { Ledger } from './ledger.ts'
import { LOG, makeStore, type Site, STILL, TOKENS } from './site.ts'

/** Connections that send ordinary requests before the memory is looked at. */
const SETTLING_CONNECTIONS = 4
/** By then the server has let go of every connection. It lingers on some for a second. */
const REST_MS = 10_000
/** Between two requests of the bystander. */
const BYSTANDER_PAUSE_MS = 20
const BYSTANDER_PATH = `/${STILL}?page=2`
/** A process that dies is seen to be dead a little later than its connections. */
const DEATH_MS = 1_000
/** Cases that may be to blame when it dies. */
const RECENT_CASES = 20

export class FuzzedServer implements AsyncDisposable {
  readonly site: Site
  port = 0
  readonly ledger = new Ledger()
  bystanderAnswers = 0
  slowestBystanderMs = 0
  /** It has died, which is noted: nothing else can be said about it. */
  isDead = false
  readonly #path: string
  readonly #findings: Findings
  readonly #process: ReamsProcess
  /** The cases that began last. */
  #recent: readonly number[] = []
  #bystander: Promise<void> | undefined
  #isWatched = false
  #rightPage = ''
  /** When nobody is connected. */
  #sockets = 0

  private constructor(site: Site, path: string, findings: Findings) {
    this.site = site
    this.#path = path
    this.#findings = findings
    const words = ['serve', '--store', path, '--port', '0', '--log-requests', 'none', ...site.words]
    // As bin/reams starts it.
    this.#process = new ReamsProcess(words, { variables: { NODE_OPTIONS: '--max-semi-space-size=4' } })
  }

  static async create(site: Site, directory: string, findings: Findings): Promise<FuzzedServer> {
    const path = join(directory, `${site.name}.db`)
    await makeStore(path)
    await using resources = new AsyncDisposableStack()
    const server = resources.use(new FuzzedServer(site, path, findings))
    server.port = Number(new URL(await server.#process.address()).port)
    server.#sockets = openSockets(server.#process.pid)
    using connection = server.#connect()
    server.#rightPage = await connection.read(BYSTANDER_PATH)
    resources.move()
    return server
  }

  #connect(): Connection {
    return new Connection(`http://127.0.0.1:${this.port}`, TOKENS.reader.token)
  }

  /** A case is about to begin. */
  begin(number: number): void {
    this.#recent = [...this.#recent, number].slice(-RECENT_CASES)
  }

  /** Whether a connection broke because the process ended; if so, that is noted, with the cases that may have ended it. */
  async hasDied(): Promise<boolean> {
    await waitUntil(() => this.#process.hasEnded, DEATH_MS).catch(() => {})
    if (!this.#process.hasEnded || this.isDead) return this.isDead
    this.isDead = true
    const { status, stderr } = await this.#process.ends()
    const reason = stderr.trim().split('\n').at(-1)
    this.#findings.add(`the process ended with status ${status}: ${reason}`, this.#recent, stderr)
    return true
  }

  /** From now on a bystander sends ordinary reads, each of which has to be answered. */
  watch(): void {
    this.#isWatched = true
    this.#bystander = this.#standBy()
  }

  async endWatch(): Promise<void> {
    this.#isWatched = false
    await this.#bystander
  }

  async #standBy(): Promise<void> {
    using connection = this.#connect()
    while (this.#isWatched && !this.isDead) {
      const startedAt = performance.now()
      const answer = await connection.get(BYSTANDER_PATH).catch((error: Error) => error)
      if (answer instanceof Error) {
        if (!(await this.hasDied())) this.#findings.add(`the bystander was not answered: ${answer.message}`)
        continue
      }
      this.slowestBystanderMs = Math.max(this.slowestBystanderMs, performance.now() - startedAt)
      this.bystanderAnswers++
      if (answer.status !== 200) this.#findings.add(`the bystander was answered ${answer.status}`, [], answer.body)
      else if (answer.body !== this.#rightPage) this.#findings.add('the bystander got a wrong page', [], answer.body)
      await sleep(BYSTANDER_PAUSE_MS)
    }
  }

  /**
   * The memory of the process when everybody has gone, and it has answered some ordinary requests since; 0 where there is
   * no /proc. A socket that it still has open then is a finding.
   */
  async memoryAtRest(settlingRequests: number): Promise<number> {
    if (this.isDead) return 0
    const settle = async () => {
      using connection = this.#connect()
      for (let count = 0; count < settlingRequests / SETTLING_CONNECTIONS; count++) await connection.get(BYSTANDER_PATH)
    }
    await Promise.all(Array.from({ length: SETTLING_CONNECTIONS }, settle))
    const { pid } = this.#process
    await waitUntil(() => openSockets(pid) <= this.#sockets, REST_MS).catch(() =>
      this.#findings.add(`the server "${this.site.name}" still has sockets of clients that are gone`),
    )
    return readMemory(pid)?.rssBytes ?? 0
  }

  /** When everybody has gone: is every item there that was acknowledged, does the server end as it should, is the store sound? */
  async check(): Promise<void> {
    if (!this.isDead) {
      await this.#checkLog()
      const { status, stderr } = await this.#process.stop()
      if (status !== 0)
        this.#findings.add(`the server ended with status ${status} when it was asked to end`, [], stderr)
      if (stderr !== '') this.#findings.add(`the server wrote to stderr\n${stderr}`)
    }
    const verified = await runReams(['verify', '--store', this.#path])
    if (verified.status !== 0) this.#findings.add('reams verify finds the store damaged', [], verified.stdout)
  }

  async #checkLog(): Promise<void> {
    using connection = this.#connect()
    const findings = new WalkFindings()
    const texts = await walk(connection, LOG, findings)
    const ids = texts.map((text) => String(JSON.parse(text).fuzz))
    for (const flaw of [...findings.messages, ...this.ledger.check(ids)])
      this.#findings.add(`the log is wrong\n${flaw}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isDead = true
    await this.#process.kill()
    await this.endWatch()
  }
}

/** 0 where there is no /proc. */
function openSockets(pid: number): number {
  const directory = `/proc/${pid}/fd`
  try {
    return readdirSync(directory).filter((name) => isSocket(join(directory, name))).length
  } catch {
    return 0
  }
}

/** False for what was closed since the directory was read. */
function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:')
  } catch {
    return false
  }
}
