/**
 * The accounts of a bank as one writer changes them: every state that its collection has had, in which order, and in which of
 * several histories where it was put back to a backup. The sum of all amounts is always the same.
 */

import { hash } from 'node:crypto'
import type { Random } from '../../bench/random.ts'
import type { Findings } from './report.ts'

/** Six pages at the beginning. */
const ACCOUNTS = 3_000
const FIRST_AMOUNT = 1_000
export const SUM = ACCOUNTS * FIRST_AMOUNT

/** The key of an item that stands first and has the number of the state. */
const COUNTER = 'counter'

const MAX_MOVES = 10
const BULK = 1_200
const APPENDED = 3_000
/** With these a version has more than the 8 MiB that a mirror collects before it begins to write. */
const LARGE = 2_700
const LARGE_NOTE = 'long '.repeat(640)

const NOTES = [
  '',
  'rent',
  'Zoë paid "half" of it\\',
  'two\nlines\tand a tab',
  '🏦 \u2028 </script>',
  'long '.repeat(30),
]

interface Account {
  readonly amount: number
  readonly note: string
}

/** What is to be sent for the next state. */
export interface Deed {
  readonly kind: 'patch' | 'append' | 'replace'
  /** The number of the state. */
  readonly number: number
  readonly ndjson: string
}

interface State {
  readonly number: number
  readonly digest: string
  readonly count: number
  readonly history: number
}

/** All accounts at one moment, for a backup of them. */
export interface Saved {
  readonly number: number
  readonly accounts: ReadonlyMap<string, Account>
}

type Kind = readonly [weight: number, make: (ledger: Ledger) => Omit<Deed, 'number'>]

export class Ledger {
  readonly #random: Random
  #accounts = new Map<string, Account>()
  readonly #states = new Map<number, State>()
  /** For each history, the state of another one with which it began. */
  readonly #beginnings: number[] = [0]
  #number = 0
  #opened = 0
  #lines: string[] = []

  constructor(random: Random) {
    this.#random = random
    this.#accounts.set(COUNTER, { amount: 0, note: '0' })
    for (let index = 0; index < ACCOUNTS; index++) this.#open(FIRST_AMOUNT)
  }

  /** The first state, as one append. */
  begin(): Deed {
    this.#lines = []
    return this.#sign(() => ({ kind: 'append', ndjson: this.text }))
  }

  /** The next state counts as one that readers may see from now on: it has to be sent until it is there. */
  next(): Deed {
    this.#lines = []
    return this.#sign(chosen(this.#random))
  }

  /** A version of a page and more, of which a mirror that lags behind reads several. */
  nextBulk(): Deed {
    this.#lines = []
    return this.#sign((ledger) => ledger.touchMany())
  }

  get number(): number {
    return this.#number
  }

  /** As the collection is exported. */
  get text(): string {
    return [...this.#accounts].map(([id, account]) => `${textOf(id, account)}\n`).join('')
  }

  /** The item that tells which state it is. */
  get mark(): string {
    return textOf(COUNTER, this.#account(COUNTER))
  }

  save(): Saved {
    return { number: Number(this.#account(COUNTER).note), accounts: new Map(this.#accounts) }
  }

  /** A new history begins. The numbers go on, so that none is given twice. */
  restore({ number, accounts }: Saved): void {
    this.#accounts = new Map(accounts)
    this.#beginnings.push(number)
  }

  /** Checks a state that somebody has read, after the one with the number `before`, and answers its number. */
  check(what: string, texts: readonly string[], before: number, findings: Findings): number {
    const accounts = texts.map((text): Account & { readonly id: string } => JSON.parse(text))
    const sum = accounts.reduce((total, { amount }) => total + amount, 0)
    const different = new Set(accounts.map(({ id }) => id)).size
    if (different < accounts.length) findings.add('doubled', `${accounts.length - different} keys in ${what}`)
    if (sum !== SUM) findings.add('partial', `the amounts in ${what} add up to ${sum} instead of ${SUM}`)
    const number = Number(accounts.find(({ id }) => id === COUNTER)?.note)
    const state = this.#states.get(number)
    if (state === undefined) {
      findings.add('foreign', `${what} says that it is state ${number}, which there never was`)
      return before
    }
    if (state.count !== accounts.length)
      findings.add('partial', `${what} has ${accounts.length} items, and state ${number} had ${state.count}`)
    else if (state.digest !== digestOf(texts)) findings.add('partial', `${what} is not what state ${number} was`)
    if (!this.#mayFollow(before, state))
      findings.add('other', `${what} went back from state ${before} to state ${number}`)
    return number
  }

  /** Whether who has seen the one state may see the other one next. */
  #mayFollow(before: number, { number, history }: State): boolean {
    const seenIn = this.#states.get(before)?.history ?? 0
    if (this.#isBefore(before, number)) return true
    // Another history, by a swap.
    return history > seenIn || this.#beginnings.some((beginning, index) => index > seenIn && beginning === number)
  }

  /** Whether the one is a state in the past of the other one, or the same. */
  #isBefore(earlier: number, later: number): boolean {
    if (earlier > later) return false
    const target = this.#states.get(earlier)?.history ?? 0
    let history = this.#states.get(later)?.history ?? 0
    let at = later
    while (history > target) {
      at = this.#beginnings[history] ?? 0
      history = this.#states.get(at)?.history ?? 0
    }
    return history === target && earlier <= at
  }

  // What is done

  move(): Omit<Deed, 'number'> {
    for (let moves = this.#random(MAX_MOVES); moves >= 0; moves--) {
      const [from, to] = [this.#anyId(), this.#anyId()]
      const part = this.#random(this.#account(from).amount + 1)
      this.#put(from, this.#account(from).amount - part)
      this.#put(to, this.#account(to).amount + part)
    }
    return this.#patch()
  }

  /** One is opened with a part of what another one has. */
  split(): Omit<Deed, 'number'> {
    const from = this.#anyId()
    const part = this.#random(this.#account(from).amount + 1)
    this.#put(from, this.#account(from).amount - part)
    const id = this.#open(part)
    this.#put(id, part)
    return this.#patch()
  }

  /** One is closed, and another one gets what it had; or itself, opened again, behind all others. */
  close(): Omit<Deed, 'number'> {
    const id = this.#anyId()
    const { amount } = this.#account(id)
    this.#accounts.delete(id)
    this.#lines.push(JSON.stringify({ op: 'delete', key: id }))
    const to = this.#random(2) === 0 ? id : this.#anyId()
    this.#put(to, (this.#accounts.get(to)?.amount ?? 0) + amount)
    return this.#patch()
  }

  touchMany(): Omit<Deed, 'number'> {
    const ids = [...this.#accounts.keys()]
    const first = 1 + this.#random(Math.max(1, ids.length - BULK))
    for (const id of ids.slice(first, first + this.#random(BULK))) this.#put(id, this.#account(id).amount)
    return this.#patch()
  }

  append(note: string, count: number): Omit<Deed, 'number'> {
    const ids = Array.from({ length: count }, () => this.#open(0, note))
    const lines = [COUNTER, ...ids].map((id) => textOf(id, this.#account(id)))
    return { kind: 'append', ndjson: `${lines.join('\n')}\n` }
  }

  /** Another order, and often without those that have nothing. */
  replaceAll(): Omit<Deed, 'number'> {
    const isSmaller = this.#random(4) > 0
    const [counter, ...others] = this.#accounts
    const kept = others.filter(([, { amount }]) => amount > 0 || !isSmaller)
    const cut = this.#random(kept.length)
    this.#accounts = new Map([counter ?? [COUNTER, { amount: 0, note: '' }], ...kept.slice(cut), ...kept.slice(0, cut)])
    return { kind: 'replace', ndjson: this.text }
  }

  /** The state gets its number first, so that what is sent has it. */
  #sign(make: Kind[1]): Deed {
    const number = ++this.#number
    this.#put(COUNTER, 0, `${number}`)
    const deed = make(this)
    const texts = [...this.#accounts].map(([id, account]) => textOf(id, account))
    const history = this.#beginnings.length - 1
    this.#states.set(number, { number, digest: digestOf(texts), count: texts.length, history })
    return { ...deed, number }
  }

  #patch(): Omit<Deed, 'number'> {
    return { kind: 'patch', ndjson: this.#lines.join('\n') }
  }

  #put(id: string, amount: number, note = NOTES[this.#random(NOTES.length)] ?? ''): void {
    const account = { amount, note }
    this.#accounts.set(id, account)
    this.#lines.push(`{"op":"put","item":${textOf(id, account)}}`)
  }

  #open(amount: number, note = 'new'): string {
    const id = `a${++this.#opened}`
    this.#accounts.set(id, { amount, note })
    return id
  }

  #account(id: string): Account {
    return this.#accounts.get(id) ?? { amount: 0, note: '' }
  }

  #anyId(): string {
    const ids = [...this.#accounts.keys()]
    return ids[1 + this.#random(ids.length - 1)] ?? ''
  }
}

/** How often each is done, and what. */
const KINDS: readonly Kind[] = [
  [500, (ledger) => ledger.move()],
  [150, (ledger) => ledger.split()],
  [180, (ledger) => ledger.close()],
  [100, (ledger) => ledger.touchMany()],
  [15, (ledger) => ledger.append('appended', APPENDED)],
  [4, (ledger) => ledger.append(LARGE_NOTE, LARGE)],
  [15, (ledger) => ledger.replaceAll()],
]

function chosen(random: Random): Kind[1] {
  let left = random(KINDS.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, make] of KINDS) {
    if (left < weight) return make
    left -= weight
  }
  throw new Error('Nothing was chosen.')
}

function textOf(id: string, { amount, note }: Account): string {
  return JSON.stringify({ id, amount, note })
}

function digestOf(texts: readonly string[]): string {
  return hash('sha256', texts.join('\n'))
}
