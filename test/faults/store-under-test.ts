/** A store with its server and its history: what every fault is done to. */

import { hash, randomBytes } from 'node:crypto'
import type { Random } from '../../bench/random.ts'
import { DataLocation } from '../../src/cli/data-location.ts'
import { withStore } from '../../src/cli/open-store.ts'
import { TOKEN_PREFIX } from '../../src/contract/scope.ts'
import { Connection } from './connection.ts'
import { History, LOG, THINGS } from './history.ts'
import { type ProcessOptions, ReamsProcess, runReams } from './reams-process.ts'
import type { Findings, Report } from './report.ts'
import { walk } from './walk.ts'
import { itemCountOf, sendWrite, Workload, type WorkloadKind } from './workload.ts'

export interface StorePlace {
  /** A path, or the URL of a database. */
  readonly location: string
  /** The same store as the server is to reach it. Default: the location. */
  readonly servedLocation?: string
}

export class StoreUnderTest implements AsyncDisposable {
  /** As `--store` takes it. */
  readonly path: string
  readonly #servedPath: string
  readonly #report: Report
  readonly #random: Random
  readonly #history: History
  #token = ''
  #server: ReamsProcess | undefined
  #url = ''

  private constructor({ location, servedLocation = location }: StorePlace, report: Report, random: Random) {
    this.path = location
    this.#servedPath = servedLocation
    this.#report = report
    this.#random = random
    this.#history = new History(report.findings)
  }

  /** A new store, with its server running and two empty collections. */
  static async create(place: StorePlace, report: Report, random: Random): Promise<StoreUnderTest> {
    const subject = new StoreUnderTest(place, report, random)
    await using resources = new AsyncDisposableStack()
    resources.use(subject)
    subject.#token = await addToken(place.location)
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

  /** For a command that is to use this store: a URL may hold a password, which is no word for a command line. */
  get named(): ProcessOptions {
    return { variables: { REAMS_STORE: this.path } }
  }

  /** Starts the server, within a wrapping command if there is one, and tells how long that took. */
  async start(wrapper: readonly string[] = []): Promise<number> {
    const startedAt = performance.now()
    this.#server = new ReamsProcess(['serve', '--port', '0'], {
      wrapper,
      variables: { REAMS_STORE: this.#servedPath },
    })
    this.#url = await this.#server.address()
    using connection = this.connect()
    const { status } = await connection.get('/')
    if (status !== 200) this.#report.findings.add('other', `the first read was answered ${status}`)
    return performance.now() - startedAt
  }

  connect(): Connection {
    return new Connection(this.#url, this.#token)
  }

  work(options: WorkloadKind = {}): Workload {
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
    await this.#settleCommits()
    await checkStore(this.path, findings)
    using connection = this.connect()
    const logTexts = await walk(connection, LOG, findings)
    const thingTexts = await walk(connection, THINGS, findings)
    for (const { write, isThere } of this.#history.check(logTexts, thingTexts)) {
      // A client may ask what became of its write, or just send it again: then it is there once, whatever was before.
      if (write.request.isKeyless || this.#random(2) === 0) {
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

  /** A commit whose connection was lost may still be on its way in a database. It holds the head, for which this waits. */
  async #settleCommits(): Promise<void> {
    if (!new DataLocation(this.path).isDatabase) return
    await this.#ensureCollection(LOG, null)
    await this.#ensureCollection(THINGS, 'id')
  }

  async #ensureCollection(name: string, key: string | null): Promise<void> {
    using connection = this.connect()
    const body = JSON.stringify({ key, paginated: true, private: false })
    const { status } = await connection.ask({ method: 'PUT', path: `/${name}`, type: 'application/json', body })
    if (status >= 300) throw new Error(`The collection "${name}" could not be ensured: ${status}.`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.kill()
  }
}

/** `reams verify` finds nothing. */
export async function checkStore(location: string, findings: Findings): Promise<void> {
  const { status, stdout, stderr } = await runReams(['verify'], { variables: { REAMS_STORE: location } })
  if (status !== 0) findings.add('other', `reams verify: ${stdout}${stderr}`)
}

/** Creates a store with one token, which may do everything. */
export async function addToken(location: string): Promise<string> {
  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
  const row = { name: 'faults', hash: hash('sha256', token), scopes: ['admin'] }
  const dates = { createdAt: Date.now(), expiresAt: null, revokedAt: null }
  await withStore(new DataLocation(location), { create: true }, (store) => store.addToken({ ...row, ...dates }))
  return token
}
