/** Accounts whose amounts have a constant sum: what each writer does to its own, and what a walk over all of them must show. */

import type { Random } from '../../bench/random.ts'
import type { Findings } from './report.ts'

export interface Account {
  /** Begins with the name of its writer. */
  readonly id: string
  readonly amount: number
  /** The number of the PATCH that wrote it; 0: none yet. */
  readonly patch: number
}

/** What an account had after a PATCH; null: it was deleted. */
interface Entry {
  readonly patch: number
  readonly amount: number | null
}

type Change = readonly [id: string, amount: number | null]

/** What every account has at the beginning. */
const FIRST_AMOUNT = 1_000

/** Of the accounts that a writer has at the beginning, it deletes about so many at most before it creates some. */
const MAX_MISSING = 40

/** One writer with its own accounts, so that it always knows what they hold. Each PATCH keeps their sum. */
export class AccountWriter {
  readonly name: string
  readonly #random: Random
  readonly #accounts: number
  /** The accounts that there are. */
  readonly #amounts = new Map<string, number>()
  readonly #deleted: string[] = []
  readonly #entries = new Map<string, Entry[]>()
  /** The number of the last PATCH that was acknowledged; all before it were too. */
  acknowledged = 0
  /** The number of the last one that was sent. */
  sent = 0
  deletes = 0

  constructor(name: string, accounts: number, random: Random) {
    this.name = name
    this.#random = random
    this.#accounts = accounts
    for (let number = 0; number < accounts; number++) this.#apply([`${name}-${number}`, FIRST_AMOUNT])
  }

  /** What its accounts add up to, always. */
  get sum(): number {
    return this.#accounts * FIRST_AMOUNT
  }

  /** Those that are there before its first PATCH. */
  get firstAccounts(): Account[] {
    return [...this.amountsAt(0)].map(([id, amount]) => ({ id, amount, patch: 0 }))
  }

  /** The next PATCH, as NDJSON. It is to be sent until it is acknowledged, before the next one. */
  begin(): string {
    this.sent++
    const changes = this.#nextChanges()
    for (const change of changes) this.#apply(change)
    return changes.map((change) => this.#line(change)).join('\n')
  }

  /** What its accounts hold after that PATCH. */
  amountsAt(patch: number): Map<string, number> {
    const amounts = new Map<string, number>()
    for (const [id, entries] of this.#entries) {
      const amount = entries.findLast((entry) => entry.patch <= patch)?.amount ?? null
      if (amount !== null) amounts.set(id, amount)
    }
    return amounts
  }

  /** The accounts that are there after that PATCH and were not deleted since, not even for a moment. */
  keptSince(patch: number): string[] {
    const isKept = (id: string) => !this.#entries.get(id)?.some((entry) => entry.patch > patch && entry.amount === null)
    return [...this.amountsAt(patch).keys()].filter(isKept)
  }

  /** Each writes at least one account, so the highest number that accounts show is that of the last PATCH. */
  #nextChanges(): readonly Change[] {
    const from = this.#anyId()
    const to = this.#anyId(from)
    const [held, received] = [this.#amounts.get(from) ?? 0, this.#amounts.get(to) ?? 0]
    const part = this.#random(held + 1)
    const choice = this.#random(100)
    const giveAll: Change[] = [
      [from, null],
      [to, received + held],
    ]
    if (choice >= 20) return [[from, held - part] as const, [to, received + part] as const]
    // Created again behind all others: the number of accounts stays, and whatever followed moves up.
    if (choice < 8) return [...giveAll, [from, 0]]
    if (this.#amounts.size + this.#random(MAX_MISSING) >= this.#accounts) return giveAll
    // Under a name that was there before, or under a new one.
    const created = (choice % 2 === 0 ? this.#deleted.pop() : undefined) ?? `${this.name}-${this.sent}n`
    return [
      [from, held - part],
      [created, part],
    ]
  }

  #anyId(other?: string): string {
    const ids = [...this.#amounts.keys()]
    const at = this.#random(ids.length)
    const id = ids[at] ?? ''
    return id === other ? (ids[(at + 1) % ids.length] ?? '') : id
  }

  #apply([id, amount]: Change): void {
    const entries = this.#entries.get(id) ?? []
    entries.push({ patch: this.sent, amount })
    this.#entries.set(id, entries)
    if (amount !== null) return void this.#amounts.set(id, amount)
    this.#amounts.delete(id)
    this.#deleted.push(id)
    this.deletes++
  }

  #line([id, amount]: Change): string {
    if (amount === null) return JSON.stringify({ op: 'delete', key: id })
    return JSON.stringify({ op: 'put', item: { id, amount, patch: this.sent } satisfies Account })
  }
}

/** What was acknowledged to each writer at some moment. */
export type Moment = readonly (readonly [writer: AccountWriter, acknowledged: number])[]

export function momentOf(writers: readonly AccountWriter[]): Moment {
  return writers.map((writer) => [writer, writer.acknowledged])
}

/** Compares a walk that began at a moment with what the accounts were, all of them at one later moment. */
export function checkWalk(what: string, accounts: readonly Account[], began: Moment, findings: Findings): void {
  for (const id of repeatedIds(accounts)) findings.add('doubled', `${id} in ${what}`)
  const [sum, due] = [sumOf(accounts), dueSum(began)]
  if (sum !== due) findings.add('partial', `the amounts in ${what} add up to ${sum} instead of ${due}`)
  const byWriter = Map.groupBy(accounts, ({ id }) => id.split('-', 1)[0])
  for (const [writer, acknowledged] of began) {
    const shown = byWriter.get(writer.name) ?? []
    const last = Math.max(0, ...shown.map(({ patch }) => patch))
    const place = `${what}, which shows ${writer.name} after PATCH ${last},`
    if (last < acknowledged) findings.add('lost', `${place} lacks what was acknowledged up to PATCH ${acknowledged}`)
    const expected = writer.amountsAt(last)
    for (const { id, amount } of shown) {
      const amountThen = expected.get(id)
      if (amount !== amountThen) findings.add('partial', `${place} has ${amount} in ${id}, which held ${amountThen}`)
      expected.delete(id)
    }
    for (const id of expected.keys()) findings.add('lost', `${place} lacks ${id}`)
  }
}

/** What a walk misses or has twice, where nobody promised more. */
export interface Drift {
  /** Accounts that were there from its beginning to its end, and not in it. */
  readonly skipped: number
  readonly repeated: number
  readonly isSumWrong: boolean
}

export function driftOf(accounts: readonly Account[], began: Moment): Drift {
  const shown = new Set(accounts.map(({ id }) => id))
  const kept = began.flatMap(([writer, acknowledged]) => writer.keptSince(acknowledged))
  return {
    skipped: kept.filter((id) => !shown.has(id)).length,
    repeated: repeatedIds(accounts).length,
    isSumWrong: sumOf(accounts) !== dueSum(began),
  }
}

function repeatedIds(accounts: readonly Account[]): string[] {
  const seen = new Set<string>()
  const repeated: string[] = []
  for (const { id } of accounts)
    if (seen.has(id)) repeated.push(id)
    else seen.add(id)
  return repeated
}

function sumOf(accounts: readonly Account[]): number {
  return accounts.reduce((sum, { amount }) => sum + amount, 0)
}

function dueSum(began: Moment): number {
  return began.reduce((sum, [writer]) => sum + writer.sum, 0)
}
