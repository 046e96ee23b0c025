/**
 * The accounts of a bank as one writer changes them: every state that they have had, in which order, and in which of several
 * histories where their collection was put back to a backup. The sum of all amounts is always the same.
 */

import { hash } from 'node:crypto'
import type { Random } from '../../bench/random.ts'
import { chosen, type Weighted } from './chosen.ts'
import type { Findings } from './report.ts'

const FIRST_AMOUNT = 1_000

/** What the key of the item ends with that stands first and has the number of the state. */
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

type Work = (ledger: Ledger) => Omit<Deed, 'number'>
type Kinds = Weighted<Work>

const patches = (moves: number): Kinds => [
  [moves, (ledger) => ledger.move()],
  [150, (ledger) => ledger.split()],
  [180, (ledger) => ledger.close()],
]

/** Every fifth opens or closes an account. */
export const FEW_OPENINGS = patches(1_320)

const ALL: Kinds = [
  ...patches(500),
  [100, (ledger) => ledger.touchMany()],
  [15, (ledger) => ledger.append('appended', APPENDED)],
  [4, (ledger) => ledger.append(LARGE_NOTE, LARGE)],
  [15, (ledger) => ledger.replaceAll()],
]

interface LedgerOptions {
  /** What all keys begin with. Default: nothing. */
  readonly name?: string
  /** How many there are at first. Default: 3,000, on six pages. */
  readonly accounts?: number
  readonly kinds?: Kinds
}

export class Ledger {
  readonly name: string
  readonly sum: number
  readonly #random: Random
  readonly #kinds: Kinds
  #accounts = new Map<string, Account>()
  /** The state since which each account has been there without a break. */
  readonly #openedAt = new Map<string, number>()
  #closed: string[] = []
  readonly #states = new Map<number, State>()
  /** For each history, the state of another one with which it began. */
  readonly #beginnings: number[] = [0]
  #opened = 0
  #lines: string[] = []
  closings = 0
  /** Of the last state, which readers may see. */
  number = 0
  /** Of the last state that was acknowledged, where somebody keeps count of that. */
  acknowledged = 0

  constructor(random: Random, { name = '', accounts = 3_000, kinds = ALL }: LedgerOptions = {}) {
    this.name = name
    this.sum = accounts * FIRST_AMOUNT
    this.#random = random
    this.#kinds = kinds
    this.#put(this.#counter, 0, '0')
    for (let index = 0; index < accounts; index++) this.#open(FIRST_AMOUNT)
  }

  /** The first state, as one append. */
  begin(): Deed {
    return this.next(() => ({ kind: 'append', ndjson: this.text }))
  }

  /** The next state counts as one that readers may see from now on: it has to be sent until it is there. */
  next(work: Work = chosen(this.#kinds, this.#random)): Deed {
    // The state gets its number first, so that what is sent has it.
    const number = ++this.number
    this.#lines = []
    this.#put(this.#counter, 0, `${number}`)
    const deed = work(this)
    const texts = [...this.#accounts].map(([id, account]) => textOf(id, account))
    const history = this.#beginnings.length - 1
    this.#states.set(number, { number, digest: digestOf(texts), count: texts.length, history })
    return { ...deed, number }
  }

  /** As the collection is exported. */
  get text(): string {
    return [...this.#accounts].map(([id, account]) => `${textOf(id, account)}\n`).join('')
  }

  /** The item that tells which state it is. */
  get mark(): string {
    return textOf(this.#counter, this.#account(this.#counter))
  }

  /** The accounts that have been there without a break since that state. */
  keptSince(number: number): string[] {
    return [...this.#accounts.keys()].filter((id) => (this.#openedAt.get(id) ?? 0) <= number)
  }

  save(): Saved {
    return { number: Number(this.#account(this.#counter).note), accounts: new Map(this.#accounts) }
  }

  /** A new history begins. The numbers go on, so that none is given twice. */
  restore({ number, accounts }: Saved): void {
    this.#accounts = new Map(accounts)
    this.#closed = []
    this.#beginnings.push(number)
  }

  /** Checks a state that somebody has read, after the one with the number `before`, and returns its number. */
  check(what: string, texts: readonly string[], before: number, findings: Findings): number {
    const accounts = texts.map((text): Account & { readonly id: string } => JSON.parse(text))
    const sum = accounts.reduce((total, { amount }) => total + amount, 0)
    const different = new Set(accounts.map(({ id }) => id)).size
    if (different < accounts.length) findings.add('doubled', `${accounts.length - different} keys in ${what}`)
    if (sum !== this.sum) findings.add('partial', `the amounts in ${what} add up to ${sum} instead of ${this.sum}`)
    const number = Number(accounts.find(({ id }) => id === this.#counter)?.note)
    const state = this.#states.get(number)
    if (state === undefined) {
      findings.add('foreign', `${what} says that it is state ${number}, which there never was`)
      return before
    }
    if (state.count !== accounts.length)
      findings.add('partial', `${what} has ${accounts.length} items, and state ${number} had ${state.count}`)
    else if (state.digest !== digestOf(texts)) findings.add('partial', `${what} is not what state ${number} was`)
    if (!this.#mayFollow(before, state))
      findings.add('lost', `${what} went back from state ${before} to state ${number}`)
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
      const to = this.#anyId()
      const part = this.#take()
      this.#put(to, this.#account(to).amount + part)
    }
    return this.#patch()
  }

  /** One is opened with a part of what another one has. */
  split(): Omit<Deed, 'number'> {
    const part = this.#take()
    this.#put(this.#open(part), part)
    return this.#patch()
  }

  /** One is closed, and another one gets what it had; or itself, opened again after all others. */
  close(): Omit<Deed, 'number'> {
    const id = this.#anyId()
    const { amount } = this.#account(id)
    this.#accounts.delete(id)
    this.#lines.push(JSON.stringify({ op: 'delete', key: id }))
    this.closings++
    const to = this.#random(2) === 0 ? id : this.#anyId()
    if (to !== id) this.#closed.push(id)
    this.#put(to, (this.#accounts.get(to)?.amount ?? 0) + amount)
    return this.#patch()
  }

  /** A page and more, of which a mirror that lags behind reads several. */
  touchMany(): Omit<Deed, 'number'> {
    const ids = [...this.#accounts.keys()]
    const first = 1 + this.#random(Math.max(1, ids.length - BULK))
    for (const id of ids.slice(first, first + this.#random(BULK))) this.#put(id, this.#account(id).amount)
    return this.#patch()
  }

  append(note: string, count: number): Omit<Deed, 'number'> {
    const ids = Array.from({ length: count }, () => this.#open(0, note))
    const lines = [this.#counter, ...ids].map((id) => textOf(id, this.#account(id)))
    return { kind: 'append', ndjson: `${lines.join('\n')}\n` }
  }

  /** Another order, and often without those that have nothing. */
  replaceAll(): Omit<Deed, 'number'> {
    const isSmaller = this.#random(4) > 0
    const [counter, ...others] = this.#accounts
    const kept = others.filter(([, { amount }]) => amount > 0 || !isSmaller)
    const cut = this.#random(kept.length)
    this.#accounts = new Map([counter ?? [this.#counter, NOTHING], ...kept.slice(cut), ...kept.slice(0, cut)])
    return { kind: 'replace', ndjson: this.text }
  }

  get #counter(): string {
    return this.name + COUNTER
  }

  #patch(): Omit<Deed, 'number'> {
    return { kind: 'patch', ndjson: this.#lines.join('\n') }
  }

  /** Takes a part of what some account has. */
  #take(): number {
    const from = this.#anyId()
    const { amount } = this.#account(from)
    const part = this.#random(amount + 1)
    this.#put(from, amount - part)
    return part
  }

  #put(id: string, amount: number, note = NOTES[this.#random(NOTES.length)] ?? ''): void {
    const account = { amount, note }
    if (!this.#accounts.has(id)) this.#openedAt.set(id, this.number)
    this.#accounts.set(id, account)
    this.#lines.push(`{"op":"put","item":${textOf(id, account)}}`)
  }

  /** Under a key that was there before, or under a new one. */
  #open(amount: number, note = 'new'): string {
    const id = (this.#random(2) === 0 ? this.#closed.pop() : undefined) ?? `${this.name}a${++this.#opened}`
    this.#openedAt.set(id, this.number)
    this.#accounts.set(id, { amount, note })
    return id
  }

  #account(id: string): Account {
    return this.#accounts.get(id) ?? NOTHING
  }

  #anyId(): string {
    const ids = [...this.#accounts.keys()]
    return ids[1 + this.#random(ids.length - 1)] ?? ''
  }
}

const NOTHING: Account = { amount: 0, note: '' }

function textOf(id: string, { amount, note }: Account): string {
  return JSON.stringify({ id, amount, note })
}

function digestOf(texts: readonly string[]): string {
  return hash('sha256', texts.join('\n'))
}
