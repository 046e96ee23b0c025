/**
 * Writers move amounts between accounts, kill -9 ends the server again and again, and walks of snapshots go on where they
 * were. A round is one walk of a snapshot from beginning to end; kills come besides. Walks of live pages are compared.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration } from '../../../src/cli/output.ts'
import { formatCount } from '../../../src/contract/message-text.ts'
import { lastPage } from '../../../src/contract/page.ts'
import { type Account, AccountWriter, checkWalk, driftOf, momentOf } from '../accounts.ts'
import type { Trial } from '../fault.ts'
import { MortalServer, WrongAnswer } from '../mortal-server.ts'
import { runReams } from '../reams-process.ts'
import type { Findings } from '../report.ts'
import { addToken, type StorePlace } from '../store-under-test.ts'
import { type Page, readPage } from '../walk.ts'

const NAME = 'accounts'

const WRITERS = 8
/** Together nine pages. */
const ACCOUNTS_A_WRITER = 540
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

export async function moveAmounts(trial: Trial, newPlace: () => StorePlace): Promise<void> {
  const { location } = newPlace()
  await using server = new MortalServer(location, await addToken(location))
  const transfers = new Transfers(server, trial)
  await transfers.run()
  const { status, stdout, stderr } = await runReams(['verify'], { variables: { REAMS_STORE: location } })
  if (status !== 0) trial.report.findings.add('other', `reams verify: ${stdout}${stderr}`)
}

interface Walk {
  readonly pages: readonly Page[]
  readonly accounts: readonly Account[]
}

class Transfers {
  readonly #server: MortalServer
  readonly #trial: Trial
  readonly #findings: Findings
  readonly #writers: readonly AccountWriter[]
  readonly #snapshots = { begun: 0, walks: 0, accounts: 0, interrupted: 0, ms: 0 }
  readonly #live = { walks: 0, accounts: 0, skipping: 0, skipped: 0, repeating: 0, repeated: 0, wrongSums: 0 }
  #isOver = false

  constructor(server: MortalServer, trial: Trial) {
    this.#server = server
    this.#trial = trial
    this.#findings = trial.report.findings
    const newWriter = (_: unknown, index: number) => new AccountWriter(`w${index}`, ACCOUNTS_A_WRITER, trial.random)
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
    const ofWriters = this.#writers.map((writer) => writer.firstAccounts)
    const inTurn = Array.from({ length: ACCOUNTS_A_WRITER }, (_, at) => ofWriters.flatMap((first) => first[at] ?? []))
    const body = inTurn
      .flat()
      .map((account) => JSON.stringify(account))
      .join('\n')
    await this.#server.ask('POST', `/${NAME}`, { type: 'application/x-ndjson', body, idempotencyKey: 'fill' })
  }

  async #write(writer: AccountWriter): Promise<void> {
    while (!this.#isOver) {
      const body = writer.begin()
      const idempotencyKey = `${writer.name}-${writer.sent}`
      // One that is refused makes all that follows untrue, and is thrown.
      await this.#server.ask('PATCH', `/${NAME}`, { type: 'application/x-ndjson', body, idempotencyKey })
      writer.acknowledged = writer.sent
      await sleep(this.#trial.random(WRITER_PAUSE_MS))
    }
  }

  async #kill(): Promise<void> {
    while (!this.#isOver) {
      await this.#randomMoment()
      this.#trial.report.recoveriesMs.push(await this.#server.killAndStart())
    }
  }

  async #randomMoment(): Promise<void> {
    const { random } = this.#trial
    const endsAt = performance.now() + MAX_LIFE_MS
    const patches = this.#sumOf('acknowledged') + random(MAX_PATCHES)
    while (!this.#isOver && this.#sumOf('acknowledged') < patches && performance.now() < endsAt) await sleep(5)
    await sleep(random(MAX_EXTRA_MS))
  }

  async #walkSnapshots(): Promise<void> {
    while (this.#snapshots.begun < this.#trial.rounds) {
      this.#snapshots.begun++
      this.#trial.beginRound()
      await this.#noting(() => this.#countSnapshot())
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

  async #countSnapshot(): Promise<void> {
    const figures = this.#snapshots
    const [startedAt, { kills }] = [performance.now(), this.#server]
    const { accounts } = await this.#walkSnapshot()
    figures.walks++
    figures.accounts += accounts.length
    figures.interrupted += kills === this.#server.kills ? 0 : 1
    figures.ms += performance.now() - startedAt
  }

  /** Follows the link of a live page, and checks everything that is promised of a snapshot. */
  async #walkSnapshot(): Promise<Walk> {
    const began = momentOf(this.#writers)
    const href = linkOf(await this.#readPage(`/${NAME}`), 'snapshot')
    const walk = await this.#walk(href)
    const counts = new Set(walk.pages.map(({ itemCount }) => itemCount))
    if (counts.size > 1 || !counts.has(walk.accounts.length))
      this.#findings.add('other', `${href} has ${walk.accounts.length} items, by its pages ${[...counts].join(' or ')}`)
    checkWalk(href, walk.accounts, began, this.#findings)
    await this.#readAgain(walk.pages)
    return walk
  }

  /** A page of a snapshot never changes. */
  async #readAgain(pages: readonly Page[]): Promise<void> {
    const page = pages[this.#trial.random(pages.length)] as Page
    const again = await this.#readPage(linkOf(page, 'self'))
    if (textOf(again) !== textOf(page)) this.#findings.add('other', `${linkOf(page, 'self')} changed`)
  }

  async #walkLive(): Promise<void> {
    const figures = this.#live
    const began = momentOf(this.#writers)
    const { accounts } = await this.#walk(`/${NAME}`)
    const { skipped, repeated, isSumWrong } = driftOf(accounts, began)
    figures.walks++
    figures.accounts += accounts.length
    figures.skipped += skipped
    figures.repeated += repeated
    figures.skipping += skipped > 0 ? 1 : 0
    figures.repeating += repeated > 0 ? 1 : 0
    figures.wrongSums += isSumWrong ? 1 : 0
  }

  /** Reads the first page, and then either follows `next`, or asks for the others by their numbers, some at a time. */
  async #walk(href: string): Promise<Walk> {
    const first = await this.#readPage(href)
    const others = this.#trial.random(2) === 0 ? await this.#follow(first) : await this.#readOthers(first)
    const pages = [first, ...others]
    return { pages, accounts: pages.flatMap(({ texts }) => texts.map((text): Account => JSON.parse(text))) }
  }

  async #follow({ next: second }: Page): Promise<Page[]> {
    const pages: Page[] = []
    for (let next = second; next !== undefined; next = pages.at(-1)?.next) {
      await this.#pause()
      pages.push(await this.#readPage(next))
    }
    return pages
  }

  async #readOthers(first: Page): Promise<Page[]> {
    const url = new URL(linkOf(first, 'last'))
    const pages: Page[] = []
    let number = 2
    const readOn = async () => {
      while (number <= lastPage(first.itemCount)) {
        const at = number++
        url.searchParams.set('page', `${at}`)
        const { href } = url
        await this.#pause()
        pages[at - 2] = await this.#readPage(href)
      }
    }
    await Promise.all(Array.from({ length: LANES }, readOn))
    return pages
  }

  async #readPage(href: string): Promise<Page> {
    return readPage({ body: await this.#server.ask('GET', href) }, NAME, this.#findings)
  }

  async #pause(): Promise<void> {
    if (!this.#isOver) await sleep(this.#trial.random(WALKER_PAUSE_MS))
  }

  /** When all is quiet: nothing is lost, and the first snapshot with all changes since is what is there now. */
  async #checkEnd(first: Walk): Promise<void> {
    const live = await this.#walk(`/${NAME}`)
    checkWalk('the end', live.accounts, momentOf(this.#writers), this.#findings)
    const again = await this.#walk(linkOf(first.pages[0] as Page, 'first'))
    if (JSON.stringify(again.accounts) !== JSON.stringify(first.accounts))
      this.#findings.add('other', `${linkOf(first.pages[0] as Page, 'first')} changed`)
    const texts = new Map(first.accounts.map((account) => [account.id, JSON.stringify(account)]))
    const changes = await this.#walk(linkOf(first.pages[0] as Page, 'changes'))
    for (const text of changes.pages.flatMap((page) => page.texts)) applyChange(texts, text, this.#findings)
    const isSame = JSON.stringify([...texts.values()]) === JSON.stringify(live.pages.flatMap((page) => page.texts))
    if (!isSame) this.#findings.add('other', 'the first snapshot with the changes since is not the live collection')
    const [end, now] = [changes.pages.at(-1), live.pages[0]].map((page) => linkOf(page as Page, 'snapshot'))
    if (end !== now) this.#findings.add('other', `the changes end with ${end}, and the live collection is ${now}`)
  }

  #sumOf(figure: 'acknowledged' | 'sent' | 'deletes'): number {
    return this.#writers.reduce((sum, writer) => sum + writer[figure], 0)
  }

  #tell(ms: number): void {
    const { walks, accounts, interrupted, ms: walksMs } = this.#snapshots
    const live = this.#live
    const { notes } = this.#trial.report
    this.#trial.report.checked += this.#sumOf('acknowledged')
    notes.push(
      `in ${formatDuration(ms)} ${formatCount(this.#server.kills)} kills, ${formatCount(this.#sumOf('sent'))} PATCHes and ${formatCount(this.#sumOf('deletes'))} deleted accounts`,
      `${formatCount(walks)} walks of snapshots with ${formatCount(accounts)} accounts, ${formatCount(interrupted)} of them with a kill between, each ${formatDuration(walksMs / walks)} on average`,
      `for comparison, ${formatCount(live.walks)} walks of live pages with ${formatCount(live.accounts)} accounts: ${formatCount(live.skipping)} skipped ${formatCount(live.skipped)} accounts, ${formatCount(live.repeating)} had ${formatCount(live.repeated)} twice, ${formatCount(live.wrongSums)} had a wrong sum`,
    )
  }
}

function linkOf({ links }: Page, relation: string): string {
  const href = links.get(relation)
  if (href === undefined) throw new WrongAnswer(`${links.get('self')} does not link "${relation}"`)
  return href
}

/** All that a page says. */
function textOf({ texts, itemCount, links }: Page): string {
  return JSON.stringify([itemCount, [...links], texts])
}

/** In the order of a collection: what is replaced keeps its place, and what is new stands last. */
function applyChange(texts: Map<string, string>, text: string, findings: Findings): void {
  const { op, key, item } = JSON.parse(text)
  if (op === 'put' && item.id === key) texts.set(key, JSON.stringify(item))
  else if (op !== 'delete' || !texts.delete(key)) findings.add('other', `${text} does not fit what was there`)
}
