/** One random bit of the store's file is flipped. Each answer is then the right one, or says that the store is damaged. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Random } from '../../../bench/random.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Fault } from '../fault.ts'
import {
  type Answer,
  type Ask,
  askAll,
  askForKeys,
  asking,
  isStranger,
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

type Fate = 'noticed' | 'not opened' | 'harmless' | 'wrong'

export const FLIPS: Fault = {
  name: 'flips',
  description: 'a random bit of the store file is flipped',
  rounds: 1_000,
  fewRounds: 40,
  needs: [],
  async run({ directory, rounds, random, report, beginRound }) {
    const [sound, flipped] = [join(directory, 'sound.db'), join(directory, 'flipped.db')]
    await makeStore(sound)
    const answers = await soundAnswers(sound, flipped)
    const bytes = readFileSync(sound)
    const pages = pagesOf(sound)
    const fates = new Map<string, number>()
    for (let round = 0; round < rounds; round++) {
      beginRound()
      const aim = AIMS[round % AIMS.length] ?? 'elsewhere'
      const bit = randomBit(pages.get(aim) ?? [], random)
      writeFlipped(flipped, bytes, bit)
      const trial = new Trial(report, `bit ${bit % 8} of byte ${Math.floor(bit / 8)} (${aim})`, answers)
      await trial.run(flipped, aim, round % ROUNDS_A_WRITE === 0)
      const key = `${aim}: ${trial.fate}`
      fates.set(key, (fates.get(key) ?? 0) + 1)
    }
    report.notes.push(
      [...fates]
        .sort()
        .map(([fate, count]) => `${fate} ${count}`)
        .join(', '),
    )
  },
}

/** The numbers of the pages, from 0 on, by what lies on them. */
function pagesOf(path: string): Map<string, number[]> {
  const database = new DatabaseSync(path, { readOnly: true })
  const found = database.prepare('SELECT name, pageno FROM dbstat').all() as { name: string; pageno: number }[]
  database.close()
  const pages = new Map<string, number[]>(AIMS.map((aim) => [aim, []]))
  for (const { name, pageno } of found) {
    const aim = AIMS.find((each) => name === each || name.startsWith(`sqlite_autoindex_${each}_`)) ?? 'elsewhere'
    pages.get(aim)?.push(pageno - 1)
  }
  return pages
}

/** Counted from the beginning of the file. */
function randomBit(pages: readonly number[], random: Random): number {
  return (pages[random(pages.length)] ?? 0) * PAGE_BYTES * 8 + random(PAGE_BYTES * 8)
}

function writeFlipped(path: string, sound: Buffer, bit: number): void {
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  const bytes = Buffer.from(sound)
  const at = Math.floor(bit / 8)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit % 8))
  writeFileSync(path, bytes)
}

/** One flip, and what came of it. */
class Trial {
  fate: Fate = 'harmless'
  readonly #report: Report
  readonly #what: string
  readonly #sound: SoundAnswers

  constructor(report: Report, what: string, sound: SoundAnswers) {
    this.#report = report
    this.#what = what
    this.#sound = sound
  }

  async run(path: string, aim: string, withWrites: boolean): Promise<void> {
    let store: Store
    try {
      store = await openSqliteStore({ path })
    } catch (error) {
      this.fate = 'not opened'
      if (!(error instanceof Error && error.name === 'StoreError')) this.#wrong(`opening failed with ${error}`)
      return
    }
    const ask = asking(store)
    this.#compare(await askAll(ask), this.#sound.before)
    if (aim === 'key') this.#compareTexts(await askForKeys(store))
    if (withWrites) await this.#write(ask)
    if (this.fate === 'noticed') await this.#verify(store)
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
    this.#compare(await askAll(ask), expected)
  }

  #compareTexts(texts: ReadonlyMap<string, string | null | undefined>): void {
    for (const [path, text] of texts) {
      this.#report.checked++
      if (text === undefined) this.#notice()
      else if (text !== this.#sound.texts.get(path)) this.#wrong(`${path} is ${text}`)
    }
  }

  #compare(answers: readonly Answer[], expected: readonly (Answer | undefined)[]): void {
    for (const [at, { status, body }] of answers.entries()) {
      const [question, right] = [QUESTIONS[at], expected[at]]
      if (question === undefined || right === undefined) continue
      this.#report.checked++
      const shown = `${question.path} ${JSON.stringify(question.headers)}`
      if (status === right.status && body.equals(right.body)) continue
      if (status !== 503) this.#wrong(`${shown} is answered ${status} instead of ${right.status}, ${body.length} bytes`)
      else if (isStranger(question) && body.includes(question.collection)) this.#wrong(`${shown} is told the name`)
      else this.#notice()
    }
  }

  /** What a reader has noticed, `reams verify` finds. */
  async #verify(store: Store): Promise<void> {
    const isSound = await store.verify().then(
      ({ findings }) => findings.length === 0,
      (error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'corrupt'))
          this.#wrong(`verify fails with ${error}`)
        return false
      },
    )
    if (isSound && this.fate === 'noticed') this.#wrong('was noticed, and verify finds nothing')
  }

  #notice(): void {
    if (this.fate === 'harmless') this.fate = 'noticed'
  }

  #wrong(message: string): void {
    this.fate = 'wrong'
    this.#report.findings.add('other', `${this.#what}: ${message}`)
  }
}
