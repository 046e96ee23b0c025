/**
 * Writers move amounts between accounts, kill -9 ends the server again and again, and walks of snapshots go on where they
 * were. A round is one walk of a snapshot from beginning to end; kills come besides. Walks of live pages are compared.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration } from '../../../src/cli/output.ts'
import { formatCount } from '../../../src/contract/message-text.ts'
import { lastPage } from '../../../src/contract/page.ts'
import { WrongAnswer } from '../connection.ts'
import type { Trial } from '../fault.ts'
import { FEW_OPENINGS, Ledger } from '../ledger.ts'
import { MortalServer } from '../mortal-server.ts'
import type { Findings } from '../report.ts'
import { addToken, checkStore, type StorePlace } from '../store-under-test.ts'
import { linkOf, type Page, readPage, readPages, textsOf } from '../walk.ts'

const NAME = 'accounts'
const NDJSON = 'application/x-ndjson'

const WRITERS = 8
/** Together nine pages. */
const ACCOUNTS_A_WRITER = 525
const SNAPSHOT_WALKERS = 6
const LIVE_WALKERS = 2

/** The limits of a server's life: so many PATCHes that are answered, and some milliseconds. */
const MAX_PATCHES = 80
const MAX_EXTRA_MS = 30
const MAX_LIFE_MS = 5_000
/** At most, between two PATCHes of a writer. */
const WRITER_PAUSE_MS = 40
/** At most, between two pages of a walk: who reads does something with them. */
const WALKER_PAUSE_MS = 150
/** Pages that a walk reads at the same time, if it does not follow `next`. */
const LANES = 3

type Pages = readonly [Page, ...Page[]]

/** What was acknowledged to each writer when a walk began. */
type Moment = readonly (readonly [writer: Ledger, acknowledged: number])[]

export async function moveAmounts(trial: Trial, newPlace: () => StorePlace): Promise<void> {
  const { location } = newPlace()
  await using server = new MortalServer(location, await addToken(location))
  await new Transfers(server, trial).run()
  await checkStore(location, trial.report.findings)
}

class Transfers {
  readonly #server: MortalServer
  readonly #trial: Trial
  readonly #findings: Findings
  readonly #writers: readonly Ledger[]
  readonly #snapshots = { begun: 0, walks: 0, accounts: 0, interrupted: 0, ms: 0 }
  readonly #live = { walks: 0, accounts: 0, skipping: 0, skipped: 0, repeating: 0, repeated: 0, wrongSums: 0 }
  #isOver = false

  constructor(server: MortalServer, trial: Trial) {
    this.#server = server
    this.#trial = trial
    this.#findings = trial.report.findings
    const options = { accounts: ACCOUNTS_A_WRITER, kinds: FEW_OPENINGS }
    const newWriter = (_: unknown, index: number) => new Ledger(trial.random, { ...options, name: `w${index}-` })
    this.#writers = Array.from({ length: WRITERS }, newWriter)
  }

  async run(): Promise<void> {
    await this.#createAccounts()
    const first = await this.#walkSnapshot()
    const startedAt = performance.now()
    const others = [
      ...this.#writers.map((writer) => this.#write(writer)),
      ...Array.from({ length: LIVE_WALKERS }, () => this.#walkLivePages()),
      this.#kill(),
    ]
    const walkers = Array.from({ length: SNAPSHOT_WALKERS }, () => this.#walkSnapshots())
    try {
      // The others go on until the walkers have done all rounds; whoever fails ends the run.
      await Promise.race([Promise.all(walkers), ...others])
    } finally {
      this.#isOver = true
      await Promise.allSettled([...walkers, ...others])
    }
    this.#tell(performance.now() - startedAt)
    await this.#checkEnd(first)
  }

  async #createAccounts(): Promise<void> {
    const settings = JSON.stringify({ key: 'id', paginated: true, private: false })
    await this.#server.ask('PUT', `/${NAME}`, { type: 'application/json', body: settings, idempotencyKey: 'create' })
    // Those of all writers in turn, so that amounts move between pages.
    const ofWriters = this.#writers.map((writer) => writer.begin().ndjson.split('\n'))
    const body = Array.from({ length: ACCOUNTS_A_WRITER + 1 }, (_, at) =>
      ofWriters.map((lines) => lines[at]).join('\n'),
    )
    await this.#server.ask('POST', `/${NAME}`, { type: NDJSON, body: body.join('\n'), idempotencyKey: 'fill' })
    for (const writer of this.#writers) writer.acknowledged = writer.number
  }

  async #write(writer: Ledger): Promise<void> {
    while (!this.#isOver) {
      const { number, ndjson } = writer.next()
      const idempotencyKey = `${writer.name}${number}`
      // One that is refused makes all that follows untrue, and is thrown.
      await this.#server.ask('PATCH', `/${NAME}`, { type: NDJSON, body: ndjson, idempotencyKey })
      writer.acknowledged = number
      await sleep(this.#trial.random(WRITER_PAUSE_MS))
    }
  }

  /** At random moments. */
  async #kill(): Promise<void> {
    const { random, report } = this.#trial
    while (!this.#isOver) {
      const endsAt = performance.now() + MAX_LIFE_MS
      const patches = this.#sumOf('acknowledged') + random(MAX_PATCHES)
      while (!this.#isOver && this.#sumOf('acknowledged') < patches && performance.now() < endsAt) await sleep(5)
      await sleep(random(MAX_EXTRA_MS))
      report.recoveriesMs.push(await this.#server.killAndStart())
    }
  }

  async #walkSnapshots(): Promise<void> {
    const figures = this.#snapshots
    while (figures.begun < this.#trial.rounds) {
      figures.begun++
      this.#trial.beginRound()
      await this.#noting(async () => {
        const [startedAt, { kills }] = [performance.now(), this.#server]
        const pages = await this.#walkSnapshot()
        figures.walks++
        figures.accounts += pages[0].itemCount
        figures.interrupted += kills === this.#server.kills ? 0 : 1
        figures.ms += performance.now() - startedAt
      })
    }
  }

  async #walkLivePages(): Promise<void> {
    while (!this.#isOver) await this.#noting(() => this.#walkLive())
  }

  /** A read that is answered wrongly is a finding, and the next walk begins. */
  async #noting(walk: () => Promise<unknown>): Promise<void> {
    try {
      await walk()
    } catch (error) {
      if (!(error instanceof WrongAnswer)) throw error
      this.#findings.add('other', error.message)
    }
  }

  /** Follows the link of a live page, and checks everything that is promised of a snapshot. */
  async #walkSnapshot(): Promise<Pages> {
    const began = this.#now()
    const path = linkOf(await this.#readPage(`/${NAME}`), 'snapshot')
    const pages = await this.#walk(path)
    this.#check(path, pages, began)
    // A page of a snapshot never changes.
    const page = pages[this.#trial.random(pages.length)] ?? pages[0]
    const again = await this.#readPage(linkOf(page, 'self'))
    if (textOf([again]) !== textOf([page])) this.#findings.add('other', `${linkOf(page, 'self')} changed`)
    return pages
  }

  #now(): Moment {
    return this.#writers.map((writer) => [writer, writer.acknowledged])
  }

  /** Compares a walk that began at a moment with what the accounts of each writer were, at that moment or later. */
  #check(what: string, pages: Pages, began: Moment): void {
    const byWriter = Map.groupBy(textsOf(pages, this.#findings), (text) => /^\w+-/.exec(JSON.parse(text).id)?.[0])
    for (const [writer, acknowledged] of began)
      writer.check(`${what} of ${writer.name}`, byWriter.get(writer.name) ?? [], acknowledged, this.#findings)
  }

  /** What a walk misses or has twice, where nobody promised more. */
  async #walkLive(): Promise<void> {
    const figures = this.#live
    const began = this.#now()
    const pages = await this.#walk(`/${NAME}`)
    const accounts = pages.flatMap(({ texts }) => texts.map((text) => JSON.parse(text)))
    const shown = new Set(accounts.map(({ id }) => id))
    const kept = began.flatMap(([writer, acknowledged]) => writer.keptSince(acknowledged))
    const skipped = kept.filter((id) => !shown.has(id)).length
    const repeated = accounts.length - shown.size
    const sum = accounts.reduce((total, { amount }) => total + amount, 0)
    figures.walks++
    figures.accounts += accounts.length
    figures.skipped += skipped
    figures.repeated += repeated
    figures.skipping += skipped > 0 ? 1 : 0
    figures.repeating += repeated > 0 ? 1 : 0
    figures.wrongSums += sum === this.#sumOf('sum') ? 0 : 1
  }

  /** Reads the first page, and then either follows `next`, or asks for the others by their numbers, some at a time. */
  async #walk(path: string): Promise<Pages> {
    if (this.#trial.random(2) === 0) return this.#follow(path)
    const first = await this.#readPage(path)
    const url = new URL(linkOf(first, 'last'), 'http://reams.example')
    const pages: Page[] = []
    let number = 2
    const readOn = async () => {
      while (number <= lastPage(first.itemCount)) {
        const at = number++
        url.searchParams.set('page', `${at}`)
        const page = url.pathname + url.search
        await this.#pause()
        pages[at - 2] = await this.#readPage(page)
      }
    }
    await Promise.all(Array.from({ length: LANES }, readOn))
    return [first, ...pages]
  }

  #follow(path: string): Promise<Pages> {
    const get = async (next: string) => {
      await this.#pause()
      return this.#server.ask('GET', next)
    }
    return readPages(path, get, this.#findings)
  }

  async #readPage(path: string): Promise<Page> {
    return readPage(await this.#server.ask('GET', path), this.#findings)
  }

  async #pause(): Promise<void> {
    if (!this.#isOver) await sleep(this.#trial.random(WALKER_PAUSE_MS))
  }

  /** When all is quiet: nothing is lost, and the first snapshot with all changes since is what is there now. */
  async #checkEnd([first, ...others]: Pages): Promise<void> {
    const live = await this.#walk(`/${NAME}`)
    this.#check('the end', live, this.#now())
    const again = await this.#walk(linkOf(first, 'first'))
    if (textOf(again) !== textOf([first, ...others])) this.#findings.add('other', `${linkOf(first, 'first')} changed`)
    const texts = new Map(again.flatMap((page) => page.texts).map((text) => [String(JSON.parse(text).id), text]))
    const changes = await this.#walk(linkOf(first, 'changes'))
    for (const text of changes.flatMap((page) => page.texts)) applyChange(texts, text, this.#findings)
    const isSame = JSON.stringify([...texts.values()]) === JSON.stringify(live.flatMap((page) => page.texts))
    if (!isSame) this.#findings.add('other', 'the first snapshot with the changes since is not the live collection')
    const [end, now] = [changes.at(-1) ?? first, live[0]].map((page) => linkOf(page, 'snapshot'))
    if (end !== now) this.#findings.add('other', `the changes end with ${end}, and the live collection is ${now}`)
  }

  #sumOf(figure: 'acknowledged' | 'number' | 'closings' | 'sum'): number {
    return this.#writers.reduce((sum, writer) => sum + writer[figure], 0)
  }

  #tell(ms: number): void {
    const { walks, accounts, interrupted, ms: walksMs } = this.#snapshots
    const live = this.#live
    this.#trial.report.checked += this.#sumOf('acknowledged')
    this.#trial.report.notes.push(
      `in ${formatDuration(ms)} ${formatCount(this.#server.kills)} kills, ${formatCount(this.#sumOf('number'))} PATCHes and ${formatCount(this.#sumOf('closings'))} deleted accounts`,
      `${formatCount(walks)} walks of snapshots with ${formatCount(accounts)} accounts, ${formatCount(interrupted)} of them with a kill between, each ${formatDuration(walksMs / walks)} on average`,
      `for comparison, ${formatCount(live.walks)} walks of live pages with ${formatCount(live.accounts)} accounts: ${formatCount(live.skipping)} skipped ${formatCount(live.skipped)} accounts, ${formatCount(live.repeating)} had ${formatCount(live.repeated)} twice, ${formatCount(live.wrongSums)} had a wrong sum`,
    )
  }
}

/** All that pages say. */
function textOf(pages: Pages): string {
  return JSON.stringify(pages.map(({ texts, itemCount, links }) => [itemCount, [...links], texts]))
}

/** In the order of a collection: what is replaced keeps its place, and what is new stands last. */
function applyChange(texts: Map<string, string>, text: string, findings: Findings): void {
  const { op, key, item } = JSON.parse(text)
  if (op === 'put' && item.id === key) texts.set(key, JSON.stringify(item))
  else if (op !== 'delete' || !texts.delete(key)) findings.add('other', `${text} does not fit what was there`)
}
