/**
 * `reams follow` keeps a collection true to the table of a bank, while kill -9 ends followers, the server and PostgreSQL, and
 * connections are cut. Each state that is read has the right sum; when the bank is closed, the collection is the table, byte
 * for byte.
 */

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatCount } from '../../../src/contract/message-text.ts'
import type { PostgresCluster } from '../../store/postgres-cluster.ts'
import { Bank, type Counts, checkState } from '../bank.ts'
import { WrongAnswer } from '../connection.ts'
import type { Trial } from '../fault.ts'
import { MortalServer } from '../mortal-server.ts'
import { ReamsProcess, runReams } from '../reams-process.ts'
import type { Findings } from '../report.ts'
import { addToken, checkStore } from '../store-under-test.ts'
import { WatchedCommand } from '../watched-command.ts'

const NAME = 'accounts'

/** Then another bank with a new store, so that there are many first loads. */
const ROUNDS_A_BANK = 4
const READERS = 2
const READER_PAUSE_MS = 150
const MAX_STRIKES = 3
/** At most, before a strike. */
const MOMENT_MS = 1_200
const FIRST_MOMENT_MS = 600
/** How long the clerks go on behind the last one, at most. */
const AFTERWARDS_MS = 500
const CATCH_UP_MS = 60_000
/** A queue so short is full again and again. */
const SHORT_QUEUE = 3_000

export async function followBank(trial: Trial): Promise<void> {
  const { rounds, random, report, beginRound, directory } = trial
  const cluster = await trial.ownPostgres()
  const figures = { states: 0, commits: 0, rollbacks: 0 }
  const strikes = new Map<string, number>()
  for (let done = 0; done < rounds; ) {
    const bank = await Bank.create(cluster, `bank_${cluster.newSchema()}`, random, report.findings)
    const isFile = random(3) > 0
    const file = join(mkdtempSync(join(directory, 'store-')), 'reams.db')
    const store = isFile ? file : cluster.storeIn(cluster.newSchema())
    await using round = await Following.begin(trial, cluster, bank, store)
    for (const end = Math.min(rounds, done + ROUNDS_A_BANK); done < end; done++) {
      beginRound()
      for (const strike of await round.run()) strikes.set(strike, (strikes.get(strike) ?? 0) + 1)
    }
    await round.end()
    figures.states += round.states
    figures.commits += bank.commits
    figures.rollbacks += bank.rollbacks
  }
  report.checked += figures.states
  report.notes.push(
    `${formatCount(figures.commits)} transactions were committed and ${formatCount(figures.rollbacks)} rolled back; ${formatCount(figures.states)} states were read`,
    [...strikes].map(([strike, count]) => `${strike}: ${count}`).join(', '),
  )
}

const STRIKES = ['kill-follower', 'kill-server', 'kill-postgres', 'take-over', 'cut', 'freeze'] as const
type Strike = (typeof STRIKES)[number]

/** One that does not reach PostgreSQL when it is started ends, and says why. */
const AWAY = /The connection was lost|Nothing listens there|The server is stopping|Check that the server is running/
const START_MS = 5_000

/** One bank, and what follows it. */
class Following implements AsyncDisposable {
  readonly #trial: Trial
  readonly #findings: Findings
  readonly #cluster: PostgresCluster
  readonly #bank: Bank
  readonly #store: string
  readonly #server: MortalServer
  readonly #command: WatchedCommand<Follower>
  #isFirst = true
  #isLoaded = false
  #isReading = false
  states = 0

  private constructor(trial: Trial, cluster: PostgresCluster, bank: Bank, store: string, token: string) {
    this.#trial = trial
    this.#findings = trial.report.findings
    this.#cluster = cluster
    this.#bank = bank
    this.#store = store
    this.#server = new MortalServer(store, token)
    const isShort = trial.random(3) === 0
    const words = ['--every', '100ms', '--install', ...(isShort ? ['--queue-rows', `${SHORT_QUEUE}`] : [])]
    this.#command = new WatchedCommand(
      () => new Follower(cluster, bank.table, store, words),
      ({ status, stderr }, { startedAt }) => {
        const isAway = status === 3 && performance.now() - startedAt < START_MS && AWAY.test(stderr)
        if (!isAway) this.#findings.add('other', `a follower ended with ${status}: ${stderr.slice(-250)}`)
      },
    )
  }

  static async begin(trial: Trial, cluster: PostgresCluster, bank: Bank, store: string): Promise<Following> {
    const following = new Following(trial, cluster, bank, store, await addToken(store))
    // Before anybody strikes: one that never came up would not be started again.
    await following.#server.ask('GET', '/')
    return following
  }

  /** Returns what was done. */
  async run(): Promise<readonly Strike[]> {
    const { random, report } = this.#trial
    const plan = Array.from({ length: 1 + random(MAX_STRIKES) }, () => STRIKES[random(STRIKES.length)] ?? 'cut')
    this.#bank.open()
    this.#isReading = true
    const readers = Array.from({ length: READERS }, () => this.#read())
    if (this.#command.processes.length === 0) this.#command.start()
    for (const strike of plan) {
      await this.#moment()
      await this.#strike(strike)
    }
    this.#isFirst = false
    await sleep(random(AFTERWARDS_MS))
    await this.#bank.close()
    const closedAt = performance.now()
    await this.#caughtUp(plan)
    report.recoveriesMs.push(performance.now() - closedAt)
    this.#isReading = false
    await Promise.all(readers)
    await this.#compare(plan)
    return plan
  }

  /** `reams unfollow` ends all followers and leaves nothing behind. */
  async end(): Promise<void> {
    const followers = this.#command.release()
    const variables = { REAMS_TABLE_FROM: this.#cluster.url() }
    const { status, stderr } = await runReams(['unfollow', '--table', this.#bank.table], { variables })
    if (status !== 0) this.#findings.add('other', `reams unfollow: ${stderr}`)
    for (const result of await Promise.all(followers.map((follower) => follower.ends())))
      if (!result.stderr.includes('is not followed any more'))
        this.#findings.add(
          'other',
          `after reams unfollow, a follower ended with ${result.status}: ${result.stderr.slice(-230)}`,
        )
    await using client = await this.#cluster.connect()
    const { rows } = await client.query(`SELECT FROM pg_namespace WHERE nspname = 'reams_follow'`)
    if (rows.length > 0) this.#findings.add('other', 'after reams unfollow, the schema is still there')
    await checkStore(this.#store, this.#findings)
  }

  // What is done to them

  /** Of the first round, often within the first load. */
  async #moment(): Promise<void> {
    const { random } = this.#trial
    if (!this.#isFirst) return sleep(random(MOMENT_MS))
    await this.#command.processes[0]?.connected()
    await sleep(random(FIRST_MOMENT_MS))
  }

  async #strike(strike: Strike): Promise<unknown> {
    const { random } = this.#trial
    switch (strike) {
      case 'kill-follower':
        return this.#command.kill(random, MOMENT_MS)
      case 'kill-server':
        return this.#server.killAndStart()
      case 'kill-postgres':
        return this.#cluster.strike(() => this.#cluster.killAll())
      case 'take-over':
        await this.#startSecond()
        return this.#command.kill(random, MOMENT_MS)
      case 'cut':
        if (random(2) === 0) await this.#startSecond()
        return this.#command.processes[0]?.cut()
      case 'freeze':
        return this.#freeze()
    }
  }

  async #startSecond(): Promise<void> {
    if (this.#command.processes.length < 2) await this.#command.start().connected()
    await sleep(this.#trial.random(FIRST_MOMENT_MS))
  }

  /** It stands still, and loses its connection; another one takes over; then it goes on with what it had read. */
  async #freeze(): Promise<void> {
    await this.#startSecond()
    const [first] = this.#command.processes
    first?.freeze()
    await first?.cut()
    await sleep(500 + this.#trial.random(2_000))
    first?.thaw()
  }

  // What is read

  async #read(): Promise<void> {
    let counts: Counts = new Map()
    while (this.#isReading) {
      try {
        const { texts, path } = await this.#server.readState(NAME, this.#findings)
        counts = checkState(path, texts, counts, this.#findings)
        this.states++
        this.#isLoaded = true
      } catch (error) {
        if (!(error instanceof WrongAnswer)) throw error
        const isEarly = error.status === 404 && !this.#isLoaded
        // A store in the same PostgreSQL is away with it.
        const isAway = error.status === 503 && this.#store.startsWith('postgres:')
        if (!isEarly && !isAway) this.#findings.add('other', error.message)
      }
      await sleep(this.#trial.random(READER_PAUSE_MS))
    }
  }

  /** Waits until the queue is empty and was emptied by one that follows. */
  async #caughtUp(plan: readonly Strike[]): Promise<void> {
    await using client = await this.#cluster.connect()
    const startedAt = performance.now()
    for (let found = 'no follower'; ; await sleep(50)) {
      const { rows } = await client
        .query(`SELECT id, state FROM reams_follow.follower WHERE relation = '${this.#bank.table}'::regclass`)
        .catch(() => ({ rows: [] }))
      const [follower] = rows
      if (rows.length > 1) return this.#findings.add('other', `there are ${rows.length} followers after ${plan}`)
      if (follower !== undefined) {
        const { rows: queue } = await client.query(
          `SELECT (SELECT count(*) FROM reams_follow.queue_${follower.id})::int AS waiting, is_called AS lost
          FROM reams_follow.lost_${follower.id}`,
        )
        // After a reset it names no state of the collection.
        const isKnown = follower.state !== null && !follower.state.endsWith('.')
        if (isKnown && queue[0].waiting === 0 && !queue[0].lost) return
        found = JSON.stringify({ ...follower, ...queue[0] })
      }
      if (performance.now() - startedAt < CATCH_UP_MS) continue
      const told = this.#command.processes.map(({ stderr }) => stderr).join('\n')
      return this.#findings.add('other', `after ${plan} nobody catches up: ${found}; ${told.slice(-200)}`)
    }
  }

  async #compare(plan: readonly Strike[]): Promise<void> {
    const rows = await this.#bank.rows()
    const differing = async () => {
      const items = new Set((await this.#server.readState(NAME, this.#findings)).texts)
      const missing = rows.filter((row) => !items.delete(row)).length
      return missing + items.size === 0
        ? undefined
        : `${missing} rows are missing, and ${items.size} items are too many`
    }
    const found = await differing()
    if (found === undefined) return
    await sleep(3_000)
    this.#findings.add('lost', `after ${plan}: ${found}; after three more seconds: ${(await differing()) ?? 'none'}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isReading = false
    await this.#bank.close()
    await this.#command[Symbol.asyncDispose]()
    await this.#server[Symbol.asyncDispose]()
  }
}

let followers = 0

class Follower extends ReamsProcess {
  readonly #cluster: PostgresCluster
  readonly #application: string

  constructor(cluster: PostgresCluster, table: string, store: string, words: readonly string[]) {
    const application = `follower-${++followers}`
    const from = `${cluster.url()}?application_name=${application}`
    super(['follow', '--table', table, ...words], { variables: { REAMS_TABLE_FROM: from, REAMS_STORE: store } })
    this.#cluster = cluster
    this.#application = application
  }

  /** Resolves when it was seen in the database, or has ended. */
  async connected(): Promise<void> {
    while (!this.hasEnded && (await this.#connections('pid')) === 0) await sleep(10)
  }

  /** Its connection to the table. */
  async cut(): Promise<void> {
    await this.#connections('pg_terminate_backend(pid)')
  }

  async #connections(what: string): Promise<number | null> {
    await using client = await this.#cluster.connect()
    const of = 'pg_stat_activity WHERE application_name = $1'
    return (await client.query(`SELECT ${what} FROM ${of}`, [this.#application])).rowCount
  }
}
