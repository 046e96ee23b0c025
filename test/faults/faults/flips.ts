/** One random bit of the store's file is flipped. Each answer is then the right one, or says that the store is damaged. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Random } from '../../../bench/random.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Trial } from '../fault.ts'
import {
  type Answer,
  type Ask,
  askAll,
  askForKeys,
  asking,
  hasNoScope,
  makeStore,
  QUESTIONS,
  type SoundAnswers,
  soundAnswers,
  WRITES,
} from '../flip-target.ts'
import type { Report } from '../report.ts'

const PAGE_BYTES = 8192

/** Pages of what is hit in turn: tables with their indexes, and all that is left. */
const AIMS = ['ream', 'tail', 'key', 'head', 'elsewhere'] as const

/** After the reads of every so many-th round the store is written to, and read again. */
const ROUNDS_A_WRITE = 4

/** Hidden: a key that is there was not found. */
type Fate = 'noticed' | 'not opened' | 'harmless' | 'hidden' | 'wrong'

export async function flipBits({ directory, rounds, random, report, beginRound }: Trial): Promise<void> {
  const [sound, flipped] = [join(directory, 'sound.db'), join(directory, 'flipped.db')]
  await makeStore(sound)
  const answers = await soundAnswers(sound, flipped)
  const bytes = readFileSync(sound)
  const pages = Map.groupBy(pagesIn(sound), ({ aim }) => aim)
  const fates = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    beginRound()
    const aim = AIMS[round % AIMS.length] ?? 'elsewhere'
    const flip = randomFlip(pages.get(aim) ?? [], random)
    writeFlipped(flipped, bytes, flip)
    const store = new FlippedStore(report, flip, answers)
    await store.compare(flipped, round % ROUNDS_A_WRITE === 0)
    const key = `${aim}: ${store.fate}`
    fates.set(key, (fates.get(key) ?? 0) + 1)
  }
  const counts = [...fates].sort().map(([fate, count]) => `${fate} ${count}`)
  report.notes.push(counts.join(', '))
}

interface Page {
  readonly aim: (typeof AIMS)[number]
  /** From 0 on. */
  readonly number: number
  readonly isLeaf: boolean
}

function pagesIn(path: string): Page[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const found = database.prepare('SELECT name, pageno, pagetype FROM dbstat').all()
  database.close()
  return found.map(({ name, pageno, pagetype }) => ({
    aim: AIMS.find((aim) => name === aim || name === `sqlite_autoindex_${aim}_1`) ?? 'elsewhere',
    number: Number(pageno) - 1,
    isLeaf: pagetype === 'leaf',
  }))
}

interface Flip {
  readonly page: Page
  /** Within the page. */
  readonly byte: number
  readonly bit: number
}

function randomFlip(pages: readonly Page[], random: Random): Flip {
  const page = pages[random(pages.length)]
  if (page === undefined) throw new Error('There are no such pages.')
  return { page, byte: random(PAGE_BYTES), bit: random(8) }
}

/** What stands before the rows of a page: how many there are, and where; and in pages above others, which those are. */
const HEADER_BYTES = 12

/**
 * Whether the flip may hide keys from a search whose neighbours are sound: the one thing that nobody notices before
 * `reams verify` does (docs/decisions/0019-checksums-by-row.md).
 */
function mayHideKeys({ page, byte }: Flip): boolean {
  return page.aim === 'key' && (byte < HEADER_BYTES || !page.isLeaf)
}

function writeFlipped(path: string, sound: Buffer, { page, byte, bit }: Flip): void {
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  const bytes = Buffer.from(sound)
  const at = page.number * PAGE_BYTES + byte
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
  writeFileSync(path, bytes)
}

/** One flip, and what came of it. */
class FlippedStore {
  fate: Fate = 'harmless'
  readonly #report: Report
  readonly #flip: Flip
  readonly #sound: SoundAnswers

  constructor(report: Report, flip: Flip, sound: SoundAnswers) {
    this.#report = report
    this.#flip = flip
    this.#sound = sound
  }

  async compare(path: string, withWrites: boolean): Promise<void> {
    let store: Store
    try {
      store = await openSqliteStore({ path })
    } catch (error) {
      this.fate = 'not opened'
      if (!(error instanceof Error && error.name === 'StoreError')) this.#wrong(`opening failed with ${error}`)
      return
    }
    const ask = asking(store)
    this.#compareAnswers(await askAll(ask), this.#sound.before)
    if (this.#flip.page.aim === 'key') this.#compareTexts(await askForKeys(store))
    if (withWrites && this.fate !== 'hidden') await this.#write(ask)
    if (this.fate !== 'harmless') await this.#verify(store)
    await store.close()
  }

  /** No write turns damage into something that looks sound. */
  async #write(ask: Ask): Promise<void> {
    const written = new Set<string>()
    for (const write of WRITES) {
      const { status } = await ask(write)
      if (status < 300) written.add(write.collection)
      else if (status === 503) this.#notice()
      else this.#wrong(`${write.method} ${write.path} is answered ${status}`)
    }
    // Of each collection, the answers before its write if it was refused, and those after it if not.
    const { before, after } = this.#sound
    const expected = QUESTIONS.map(({ collection }, at) =>
      collection === '' ? undefined : (written.has(collection) ? after : before)[at],
    )
    this.#compareAnswers(await askAll(ask), expected)
  }

  #compareTexts(texts: ReadonlyMap<string, string | null | undefined>): void {
    for (const [path, text] of texts) {
      this.#report.checked++
      if (text === undefined) this.#notice()
      else if (text !== this.#sound.texts.get(path)) this.#misses(text === null, `${path} is ${text}`)
    }
  }

  #compareAnswers(answers: readonly Answer[], expected: readonly (Answer | undefined)[]): void {
    for (const [at, { status, body }] of answers.entries()) {
      const [question, right] = [QUESTIONS[at], expected[at]]
      if (question === undefined || right === undefined) continue
      this.#report.checked++
      const shown = `${question.path} ${JSON.stringify(question.headers)}`
      if (status === right.status && body.equals(right.body)) continue
      if (status !== 503)
        this.#misses(
          status === 404 && question.path.includes('/key%20'),
          `${shown} is answered ${status} instead of ${right.status}, ${body.length} bytes`,
        )
      else if (hasNoScope(question) && body.includes(question.collection)) this.#wrong(`${shown} is told the name`)
      else this.#notice()
    }
  }

  /** What is noticed, and what is hidden, `reams verify` finds. */
  async #verify(store: Store): Promise<void> {
    const isSound = await store.verify().then(
      ({ findings }) => findings.length === 0,
      (error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'corrupt'))
          this.#wrong(`verify fails with ${error}`)
        return false
      },
    )
    if (isSound) this.#wrong(`is ${this.fate}, and verify finds nothing`)
  }

  #notice(): void {
    if (this.fate === 'harmless') this.fate = 'noticed'
  }

  #misses(isKey: boolean, message: string): void {
    if (!isKey || !mayHideKeys(this.#flip)) this.#wrong(message)
    else if (this.fate !== 'wrong') this.fate = 'hidden'
  }

  #wrong(message: string): void {
    const { page, byte, bit } = this.#flip
    this.fate = 'wrong'
    this.#report.findings.add('other', `${page.aim}, bit ${bit} of byte ${byte} of page ${page.number}: ${message}`)
  }
}
