/** One random bit of the store's file is flipped. Each answer is then the right one, or says that the store is damaged. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Random } from '../../../bench/random.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Trial } from '../fault.ts'
import { askAll, KEY_QUESTIONS, makeStore, QUESTIONS, type Question, soundAnswers, writeAll } from '../flip-target.ts'
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
    const store = new FlippedStore(report, flip)
    await store.compare(flipped, answers, round % ROUNDS_A_WRITE === 0)
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

  constructor(report: Report, flip: Flip) {
    this.#report = report
    this.#flip = flip
  }

  async compare(path: string, sound: Awaited<ReturnType<typeof soundAnswers>>, withWrites: boolean): Promise<void> {
    let store: Store
    try {
      store = await openSqliteStore({ path })
    } catch (error) {
      this.fate = 'not opened'
      if (!(error instanceof Error && error.name === 'StoreError')) this.#wrong(`opening failed with ${error}`)
      return
    }
    this.#compareAnswers(QUESTIONS, await askAll(store, QUESTIONS), sound.before)
    if (this.#flip.page.aim === 'key')
      this.#compareAnswers(KEY_QUESTIONS, await askAll(store, KEY_QUESTIONS), sound.keys)
    if (withWrites && this.fate !== 'hidden') {
      // No write turns damage into something that looks sound: what was refused has changed nothing.
      const written = await writeAll(store)
      const expected = QUESTIONS.map(({ collection }, at) => (written.has(collection) ? sound.after : sound.before)[at])
      const ofAll = (answers: readonly string[]) => answers.filter((_, at) => QUESTIONS[at]?.collection !== '')
      const questions = QUESTIONS.filter(({ collection }) => collection !== '')
      this.#compareAnswers(questions, ofAll(await askAll(store, QUESTIONS)), ofAll(expected.map(String)))
    }
    if (this.fate !== 'harmless') await this.#verify(store)
    await store.close()
  }

  #compareAnswers(questions: readonly Question[], answers: readonly string[], expected: readonly string[]): void {
    for (const [at, { asked, isForKey }] of questions.entries()) {
      this.#report.checked++
      if (answers[at] === expected[at]) continue
      if (answers[at] !== 'damaged') {
        const isHidden = isForKey === true && answers[at] === 'none' && mayHideKeys(this.#flip)
        if (!isHidden) this.#wrong(`${asked} is ${answers[at]} instead of ${expected[at]}`)
        else if (this.fate !== 'wrong') this.fate = 'hidden'
      } else if (this.fate === 'harmless') this.fate = 'noticed'
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

  #wrong(message: string): void {
    const { page, byte, bit } = this.#flip
    this.fate = 'wrong'
    this.#report.findings.add('other', `${page.aim}, bit ${bit} of byte ${byte} of page ${page.number}: ${message}`)
  }
}
