/** A store with its server and its history: what every fault is done to. */

import { hash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Random } from '../../bench/random.ts'
import { TOKEN_PREFIX } from '../../src/contract/token.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { Connection } from './connection.ts'
import { History, LOG, THINGS } from './history.ts'
import { ReamsProcess, runReams } from './reams-process.ts'
import type { Report } from './report.ts'
import { walk } from './walk.ts'
import { itemCountOf, sendWrite, Workload, type WorkloadOptions } from './workload.ts'

export class StoreUnderTest implements AsyncDisposable {
  readonly path: string
  readonly #report: Report
  readonly #random: Random
  readonly #history: History
  readonly #token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
  #server: ReamsProcess | undefined
  #url = ''

  private constructor(path: string, report: Report, random: Random) {
    this.path = path
    this.#report = report
    this.#random = random
    this.#history = new History(report.findings)
  }

  /** A new store in the directory, with its server running and two empty collections. */
  static async create(directory: string, report: Report, random: Random): Promise<StoreUnderTest> {
    const subject = new StoreUnderTest(join(directory, 'reams.db'), report, random)
    await using resources = new AsyncDisposableStack()
    resources.use(subject)
    await subject.#addToken()
    await subject.start()
    await subject.#ensureCollection(LOG, null)
    await subject.#ensureCollection(THINGS, 'id')
    resources.move()
    return subject
  }

  get server(): ReamsProcess {
    if (this.#server === undefined) throw new Error('The server was not started.')
    return this.#server
  }

  /** Starts the server, within a wrapping command if there is one, and tells how long that took. */
  async start(wrapper: readonly string[] = []): Promise<number> {
    const startedAt = performance.now()
    this.#server = new ReamsProcess(['serve', '--store', this.path, '--port', '0'], wrapper)
    this.#url = await this.#server.address()
    using connection = this.connect()
    const { status } = await connection.get('/')
    if (status !== 200) this.#report.findings.add('other', `the first read was answered ${status}`)
    return performance.now() - startedAt
  }

  connect(): Connection {
    return new Connection(this.#url, this.#token)
  }

  work(options: Pick<WorkloadOptions, 'writers'> = {}): Workload {
    return new Workload({
      url: this.#url,
      token: this.#token,
      history: this.#history,
      random: this.#random,
      ...options,
    })
  }

  /** Starts the server again after a fault that ended it, and checks everything. */
  async recover(): Promise<void> {
    this.#report.recoveriesMs.push(await this.start())
    await this.check()
  }

  /** While nobody writes: `reams verify`, a walk over both collections, and the history. */
  async check(): Promise<void> {
    const { findings } = this.#report
    const verified = await runReams(['verify', '--store', this.path])
    if (verified.status !== 0) findings.add('other', `reams verify: ${verified.stdout}${verified.stderr}`)
    using connection = this.connect()
    const logTexts = await walk(connection, LOG, findings)
    const thingTexts = await walk(connection, THINGS, findings)
    for (const { write, isThere } of this.#history.check(logTexts, thingTexts)) {
      // A client may ask what became of its write, or just send it again: then it is there once, whatever was before.
      if (this.#random(2) === 0) {
        this.#history.settle(write, isThere)
        continue
      }
      const answer = await sendWrite(connection, write)
      if (answer !== undefined && answer.status < 300)
        this.#history.acknowledge(write, itemCountOf(write.request, answer))
      else {
        findings.add('other', `${write.id}, sent again, was answered ${answer?.status}: ${answer?.body}`)
        this.#history.settle(write, isThere)
      }
    }
    this.#report.checked += this.#history.takeAcknowledged()
  }

  async #addToken(): Promise<void> {
    const store = await openSqliteStore({ path: this.path, create: true })
    try {
      await store.addToken({
        name: 'faults',
        hash: hash('sha256', this.#token),
        scopes: ['admin'],
        createdAt: Date.now(),
        expiresAt: null,
        revokedAt: null,
      })
    } finally {
      await store.close()
    }
  }

  async #ensureCollection(name: string, key: string | null): Promise<void> {
    using connection = this.connect()
    const body = JSON.stringify({ key, paginated: true, private: false })
    const { status } = await connection.ask({ method: 'PUT', path: `/${name}`, type: 'application/json', body })
    if (status !== 201) throw new Error(`The collection "${name}" could not be created: ${status}.`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.kill()
  }
}
