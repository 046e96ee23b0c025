/**
 * Two mirrors in a chain keep the accounts of a bank, while kill -9 ends servers and mirrors, connections are cut at any byte,
 * and the origin is put back to a backup. Each state that is read from a mirror was one of the origin, and states come in their
 * order; when nobody writes any more, all three are the same, byte for byte.
 */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatCount } from '../../../src/contract/message-text.ts'
import type { PostgresCluster } from '../../store/postgres-cluster.ts'
import { waitUntil } from '../../wait-until.ts'
import { chosen, type Weighted } from '../chosen.ts'
import { WrongAnswer } from '../connection.ts'
import type { Trial } from '../fault.ts'
import { type Deed, Ledger, type Saved } from '../ledger.ts'
import { MirrorSite } from '../mirror-site.ts'
import { ReamsProcess } from '../reams-process.ts'
import type { Findings } from '../report.ts'
import { DatabaseStore, FileStore, type RestorableStore } from '../restorable-store.ts'
import { checkStore } from '../store-under-test.ts'
import { WatchedCommand } from '../watched-command.ts'

const NAME = 'accounts'

/** Then a new chain, so that there are many first loads. */
const ROUNDS_A_CHAIN = 5
const MAX_STRIKES = 3
/** At most, before a strike. */
const MOMENT_MS = 700
/** How long the writer goes on behind the last one, at most. */
const AFTERWARDS_MS = 300
const WRITER_PAUSE_MS = 20
const READER_PAUSE_MS = 200
const STALL_MS = 700
const MAX_CUTS = 4
/** A cut that does not come within this time is given up: nothing moves. */
const CUT_MS = 1_500
/** Who has kept a mirror and says nothing for ten seconds is taken for dead. */
const FREEZE_MS = 11_000
const MIN_BULKS = 2
const MAX_BULKS = 9
/** More than the changes of most bulks take. */
const FEED_BYTES = 500_000
/** A mirror whose connection was cut asks again within this time. */
const FEED_MS = 3_000
const CATCH_UP_MS = 60_000

export async function mirrorBank(trial: Trial): Promise<void> {
  const { rounds, report, beginRound } = trial
  const cluster = await trial.ownPostgres()
  const figures = { writes: 0, states: 0 }
  const counts = new Map<string, number>()
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1)
  for (let done = 0; done < rounds; ) {
    const newOne = () => newStore(trial, cluster)
    const stores = [await newOne(), await newOne(), await newOne()] as const
    count(`on ${stores.map(({ location }) => (location.startsWith('postgres') ? 'PostgreSQL' : 'SQLite')).join(' < ')}`)
    await using chain = await Chain.begin(trial, stores, count)
    for (const end = Math.min(rounds, done + ROUNDS_A_CHAIN); done < end; done++) {
      beginRound()
      await chain.run()
    }
    await chain.end()
    figures.writes += chain.writes
    figures.states += chain.states
  }
  report.checked += figures.states
  report.notes.push(
    `${formatCount(figures.writes)} writes, ${formatCount(figures.states)} states read from mirrors`,
    [...counts].map(([what, times]) => `${what}: ${times}`).join(', '),
  )
}

type Strike = readonly [name: string, strike: (mirror: Kept) => Promise<unknown>]
type Stores = readonly [RestorableStore, RestorableStore, RestorableStore]

async function newStore({ random, directory }: Trial, cluster: PostgresCluster): Promise<RestorableStore> {
  return random(2) === 0 ? new FileStore(directory) : DatabaseStore.create(cluster)
}

/** A backup, and what it has. */
interface Backup {
  /** Made by `reams backup`; undefined: a copy of the store. */
  readonly file: string | undefined
  readonly saved: Saved
}

/** A mirror and what keeps it. */
interface Kept {
  readonly site: MirrorSite
  readonly of: MirrorSite
  readonly command: WatchedCommand<ReamsProcess>
  isLoaded: boolean
  /** The number of the state that was read last. */
  seen: number
  /** The path of its snapshot. */
  path: string
}

class Chain implements AsyncDisposable {
  readonly #trial: Trial
  readonly #findings: Findings
  readonly #store: RestorableStore
  readonly #origin: MirrorSite
  readonly #mirrors: readonly [Kept, Kept]
  readonly #ledger: Ledger
  readonly #count: (what: string) => void
  readonly #directory: string
  #backup: Backup | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #isWriting = false
  #isReading = false
  /** The names of the strikes of a round. */
  #plan: readonly string[] = []
  writes = 0
  states = 0

  private constructor(
    trial: Trial,
    store: RestorableStore,
    sites: readonly [MirrorSite, MirrorSite, MirrorSite],
    count: (what: string) => void,
  ) {
    const [origin, first, second] = sites
    this.#trial = trial
    this.#findings = trial.report.findings
    this.#store = store
    this.#origin = origin
    this.#mirrors = [this.#keep(first, origin), this.#keep(second, first)]
    this.#ledger = new Ledger(trial.random)
    this.#count = count
    this.#directory = mkdtempSync(join(trial.directory, 'chain-'))
  }

  static async begin(trial: Trial, stores: Stores, count: (what: string) => void): Promise<Chain> {
    const [origin, first, second] = stores
    const sites = await Promise.all([
      MirrorSite.start('the origin', origin.location),
      MirrorSite.start('the first mirror', first.location),
      MirrorSite.start('the second mirror', second.location),
    ])
    const chain = new Chain(trial, origin, sites, count)
    await chain.#send(chain.#ledger.begin())
    return chain
  }

  async run(): Promise<void> {
    const { random, report } = this.#trial
    const strikes = Array.from({ length: 1 + random(MAX_STRIKES) }, () => chosen(this.#strikes(), random))
    this.#plan = strikes.map(([name]) => name)
    this.#isWriting = true
    this.#isReading = true
    const readers = this.#mirrors.map((mirror) => this.#read(mirror))
    const writer = this.#write()
    try {
      for (const { command } of this.#mirrors) if (command.processes.length === 0) command.start()
      await Promise.race([this.#strikeAll(strikes), writer.then(() => new Promise(() => {})), ...readers])
      this.#isWriting = false
      await writer
      const startedAt = performance.now()
      const isSame = await this.#caughtUp()
      report.recoveriesMs.push(performance.now() - startedAt)
      const readState = (site: MirrorSite) => site.server.readState(NAME, this.#findings)
      if (isSame) await this.#compare(async (site) => (await readState(site)).texts.map((text) => `${text}\n`).join(''))
    } finally {
      this.#isWriting = false
      this.#isReading = false
      await Promise.allSettled([writer, ...readers])
    }
  }

  async end(): Promise<void> {
    for (const { command } of this.#mirrors)
      for (const process of command.release()) {
        const { status, stderr } = await process.stop()
        if (status !== 0) this.#findings.add('other', `stopped, a mirror ended with ${status}: ${stderr.slice(-230)}`)
      }
    await this.#compare((site) => site.run(['export', NAME]))
    for (const { location } of this.#sites) await checkStore(location, this.#findings)
    for (const { command } of this.#mirrors)
      for (const [, reason] of command.stderr.matchAll(/ copied in .*?, ([a-z][^,"]*)"/g))
        this.#count(`copied as "${reason}"`)
  }

  get #sites(): readonly MirrorSite[] {
    return [this.#origin, ...this.#mirrors.map(({ site }) => site)]
  }

  // What is written

  /** One thing at a time at the origin: each write is one state. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  async #write(): Promise<void> {
    while (this.#isWriting) {
      await this.#alone(() => this.#send(this.#ledger.next()))
      await sleep(this.#trial.random(WRITER_PAUSE_MS))
    }
  }

  async #writeBulks(): Promise<void> {
    for (let left = MIN_BULKS + this.#trial.random(MAX_BULKS - MIN_BULKS); left > 0; left--)
      await this.#alone(() => this.#send(this.#ledger.next((ledger) => ledger.touchMany())))
  }

  /** One that is refused makes all that follows untrue, and is thrown. */
  async #send({ kind, number, ndjson }: Deed): Promise<void> {
    if (kind === 'patch')
      await this.#origin.server.ask('PATCH', `/${NAME}`, {
        type: 'application/x-ndjson',
        body: ndjson,
        idempotencyKey: `write-${number}`,
      })
    else {
      const file = join(this.#directory, 'import.ndjson')
      writeFileSync(file, ndjson)
      const how = kind === 'replace' ? ['--replace'] : ['--on-conflict', 'replace']
      await this.#origin.run(['import', NAME, file, '--key', 'id', ...how])
      this.#count(`import ${how[0]}`)
    }
    this.writes++
  }

  // What is done to them

  #keep(site: MirrorSite, of: MirrorSite): Kept {
    const start = () => {
      const every = this.#trial.random(2) === 0 ? '200ms' : '3s'
      return new ReamsProcess(['mirror', of.urlOf(NAME), '--every', every], {
        variables: { REAMS_STORE: site.location },
      })
    }
    const command = new WatchedCommand(start, ({ status, stderr }) => {
      if (!isAway(status, stderr))
        this.#findings.add('other', `${site.name} ended with ${status}: ${stderr.slice(-230)}`)
    })
    return { site, of, command, isLoaded: false, seen: 0, path: '' }
  }

  async #strikeAll(strikes: readonly Strike[]): Promise<void> {
    const { random } = this.#trial
    for (const [name, strike] of strikes) {
      await sleep(random(MOMENT_MS))
      await strike(this.#mirrors[random(2)] ?? this.#mirrors[0])
      this.#count(name)
    }
    await sleep(random(AFTERWARDS_MS))
  }

  /** What is done, and how often. */
  #strikes(): Weighted<Strike> {
    const { random } = this.#trial
    const [first, second] = this.#mirrors
    const killMirror = ({ command }: Kept) => command.kill(random, MOMENT_MS)
    const killServers = () => Promise.all(this.#sites.map((site) => site.killServer()))
    return [
      [30, ['kill-origin', () => this.#origin.killServer()]],
      [20, ['kill-first-server', () => first.site.killServer()]],
      [20, ['kill-second-server', () => second.site.killServer()]],
      [30, ['kill-first-mirror', () => killMirror(first)]],
      [20, ['kill-second-mirror', () => killMirror(second)]],
      [10, ['kill-all', () => Promise.all([killServers(), killMirror(first), killMirror(second)])]],
      [40, ['cut', ({ of }) => this.#cut(of)]],
      [20, ['stall', ({ of }) => this.#stall(of)]],
      [30, ['restore', () => this.#restoreLater()]],
      [40, ['restore-while-read', () => this.#restoreWhileRead()]],
      [10, ['forget', () => this.#origin.run(['forget', NAME])]],
      [20, ['take-over', (mirror) => this.#takeOver(mirror)]],
      [2, ['freeze', (mirror) => this.#freeze(mirror)]],
    ]
  }

  async #takeOver({ command }: Kept): Promise<void> {
    const { random } = this.#trial
    command.start()
    await sleep(random(2 * MOMENT_MS))
    await command.kill(random, MOMENT_MS)
  }

  async #cut(site: MirrorSite): Promise<void> {
    const { random } = this.#trial
    for (let left = random(MAX_CUTS); left >= 0; left--) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, CUT_MS)
        site.cutSoon(random, () => {
          this.#count('cut connections')
          clearTimeout(timer)
          resolve()
        })
      })
      site.pass()
    }
  }

  /** For a while, or again and again for a moment. */
  async #stall(site: MirrorSite): Promise<void> {
    const { random } = this.#trial
    const times = 1 + random(10)
    for (let left = times; left > 0; left--) {
      site.line.hold()
      await sleep(random(STALL_MS / times))
      site.release()
      await sleep(random(10))
    }
  }

  /** It stands still, another one takes over, and then it goes on with what it had read. */
  async #freeze({ command }: Kept): Promise<void> {
    const [first] = command.processes
    first?.freeze()
    command.start()
    await sleep(FREEZE_MS + this.#trial.random(MOMENT_MS))
    first?.thaw()
  }

  #backUp(): Promise<void> {
    return this.#alone(async () => {
      const isFile = this.#trial.random(3) === 0
      const file = isFile ? join(this.#directory, 'backup.db') : undefined
      if (file !== undefined) await this.#origin.run(['backup', file, '--force'])
      else await this.#origin.killServer(() => this.#store.copy())
      this.#backup = { file, saved: this.#ledger.save() }
    })
  }

  #restore(): Promise<void> {
    return this.#alone(async () => {
      const { file, saved } = this.#backup ?? {}
      if (saved === undefined) throw new Error('There is no backup.')
      await this.#origin.killServer(async () => {
        if (file === undefined) return this.#store.putBack()
        await this.#store.remove()
        await this.#origin.run(['restore', file])
      })
      this.#ledger.restore(saved)
      this.#count(file === undefined ? 'restored copies' : 'restored backups')
    })
  }

  async #restoreLater(): Promise<void> {
    const { random } = this.#trial
    if (this.#backup === undefined || random(2) === 0) await this.#backUp()
    await sleep(random(MOMENT_MS))
    await this.#restore()
  }

  /** While the first mirror reads many pages of changes, the origin gets another history with others in their place. */
  async #restoreWhileRead(): Promise<void> {
    const { random } = this.#trial
    const [first] = this.#mirrors
    this.#origin.line.hold()
    await this.#backUp()
    await this.#writeBulks()
    await this.#origin.stallAfter(random(FEED_BYTES), FEED_MS)
    // Of the pages that it waits for, those of the other history come then.
    if (random(2) === 0) this.#origin.line.cutAll()
    if (random(3) === 0) await first.command.kill(random, MOMENT_MS)
    await this.#restore()
    await this.#writeBulks()
    this.#origin.release()
  }

  // What is read

  async #read(mirror: Kept): Promise<void> {
    const { site } = mirror
    while (this.#isReading) {
      try {
        const { texts, path } = await site.server.readState(NAME, this.#findings)
        const what = `${site.name} after ${this.#plan}`
        if (!isSameOrNewer(mirror.path, path))
          this.#findings.add('other', `${path} of ${what} was read after ${mirror.path}`)
        mirror.seen = this.#ledger.check(`${path} of ${what}`, texts, mirror.seen, this.#findings)
        mirror.path = path
        mirror.isLoaded = true
        this.states++
      } catch (error) {
        if (!(error instanceof WrongAnswer)) throw error
        const isEarly = error.status === 404 && !mirror.isLoaded
        if (!isEarly) this.#findings.add('other', `${site.name} after ${this.#plan}: ${error.message}`)
      }
      await sleep(this.#trial.random(READER_PAUSE_MS))
    }
  }

  /** Waits until both show the last state of the origin. */
  async #caughtUp(): Promise<boolean> {
    for (const { site, command } of this.#mirrors) {
      const isThere = () => site.server.ask('GET', `/${NAME}`).then((body) => body.includes(this.#ledger.mark))
      try {
        await waitUntil(() => isThere().catch(() => false), CATCH_UP_MS)
      } catch {
        const told = command.processes.map(({ stderr }) => stderr).join('\n')
        this.#findings.add('lost', `after ${this.#plan} ${site.name} does not catch up: ${told.slice(-230)}`)
        return false
      }
    }
    return true
  }

  /** Byte for byte, and in order. */
  async #compare(read: (site: MirrorSite) => Promise<string>): Promise<void> {
    const due = this.#ledger.text
    for (const site of this.#sites) {
      const found = await read(site)
      if (found === due) continue
      const [lines, expected] = [found.split('\n'), due.split('\n')]
      const at = lines.findIndex((line, index) => line !== expected[index])
      const how = `${lines.length} lines instead of ${expected.length}; line ${at + 1} is ${lines[at]?.slice(0, 60)}`
      this.#findings.add('lost', `after ${this.#plan} ${site.name} is not what was written: ${how}`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { command } of this.#mirrors) await command[Symbol.asyncDispose]()
    for (const site of this.#sites) await site[Symbol.asyncDispose]()
  }
}

/**
 * One that does not reach its origin when it is started ends, and says why; also a mirror of a mirror that is not there yet.
 * One that was answered before would have said that it goes on trying.
 */
function isAway(status: number | null, stderr: string): boolean {
  const told = stderr.split('\n').filter((line) => line.startsWith('{') && !line.includes('another process keeps'))
  return told.length === 0 && (status === 3 || (status === 2 && stderr.includes('404')))
}

/** By the names of two snapshots of a mirror: it is never made anew, and its own versions count up. */
function isSameOrNewer(before: string, path: string): boolean {
  const [id, version] = nameOf(before)
  const [newId, newVersion] = nameOf(path)
  return id === undefined || (id === newId && version <= newVersion)
}

function nameOf(path: string): readonly [id: string | undefined, version: number] {
  const [, id, version = '0'] = /@(\w+)-(\w+)-/.exec(path) ?? []
  return [id, Number.parseInt(version, 36)]
}
