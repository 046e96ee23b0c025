/**
 * A bank in a table of PostgreSQL: clerks move amounts between accounts, open and close accounts and change their keys, so
 * that the number of accounts and the sum of all balances are the same in every committed state.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { createRandom, type Random } from '../../bench/random.ts'
import type { PostgresCluster } from '../store/postgres-cluster.ts'
import { chosen, type Weighted } from './chosen.ts'
import type { Findings } from './report.ts'

const CLERKS = 8
/** Of them, so many also do transactions that commit late: with more, nobody would get a lock on the table any more. */
const LATE_CLERKS = 2

const ACCOUNTS = 10_000
const FIRST_BALANCE = 1_000
/** Each clerk has an account without a balance, which counts its transactions. */
const SUM = (ACCOUNTS - CLERKS) * FIRST_BALANCE

/** Keys lie between 1 and this one; those of the clerks are below 0. */
const MAX_ID = 1_000_000
const MAX_AMOUNT = 500

const PAUSE_MS = 15
const LATE_MS = 1_000
const MAX_EXTRA_LATE_MS = 1_000
const BULK = 300

const NOTES = [
  '',
  'rent',
  'Zoë paid "half" of it\\',
  'two\nlines\tand a tab',
  '🏦 \u2028 </script>',
  'long '.repeat(60),
]

/** SQLSTATE: two clerks were in each other's way, or the server went down. */
const USUAL = /^(23505|40001|40P01|57P|08)/

/** A transaction that is not to be kept. */
class Undo extends Error {}

const LATE_PERCENT = 2

export class Bank {
  readonly table: string
  readonly #cluster: PostgresCluster
  readonly #random: Random
  readonly #findings: Findings
  readonly #numbers: number[] = Array.from({ length: CLERKS }, () => 0)
  #isOpen = false
  #clerks: Promise<void>[] = []
  commits = 0
  rollbacks = 0

  private constructor(table: string, cluster: PostgresCluster, random: Random, findings: Findings) {
    this.table = table
    this.#cluster = cluster
    this.#random = random
    this.#findings = findings
  }

  static async create(cluster: PostgresCluster, schema: string, random: Random, findings: Findings): Promise<Bank> {
    const bank = new Bank(`${schema}.accounts`, cluster, random, findings)
    await using client = await cluster.connect()
    await client.query(`
      CREATE SCHEMA ${schema};
      CREATE TABLE ${bank.table} (id bigint PRIMARY KEY, balance bigint NOT NULL, note text NOT NULL);
      INSERT INTO ${bank.table} SELECT -number, 0, '0' FROM generate_series(1, ${CLERKS}) number;
      INSERT INTO ${bank.table} SELECT number * 100, ${FIRST_BALANCE}, 'new'
        FROM generate_series(1, ${ACCOUNTS - CLERKS}) number`)
    return bank
  }

  open(): void {
    this.#isOpen = true
    this.#clerks = this.#numbers.map((_, clerk) => this.#work(clerk, createRandom(this.#random(2 ** 31))))
  }

  /** Resolves when all transactions have ended. */
  async close(): Promise<void> {
    this.#isOpen = false
    await Promise.all(this.#clerks)
  }

  /** All rows as PostgreSQL writes them, sorted. */
  async rows(): Promise<string[]> {
    await using client = await this.#cluster.connect()
    const { rows } = await client.query(`SELECT row_to_json(a)::text AS row FROM ${this.table} a`)
    return rows.map(({ row }) => String(row)).sort()
  }

  async #work(clerk: number, random: Random): Promise<void> {
    while (this.#isOpen) {
      try {
        await using client = await this.#cluster.connect()
        while (this.#isOpen) {
          await this.#transact(clerk, client, random)
          await sleep(random(PAUSE_MS))
        }
      } catch (error) {
        if (!isUsual(error)) this.#findings.add('other', `a transaction in the table failed: ${error}`)
        await sleep(50)
      }
    }
  }

  async #transact(clerk: number, client: Client, random: Random): Promise<void> {
    const number = (this.#numbers[clerk] ?? 0) + 1
    const { deeds, moveLate, sign } = deedsOf(client, this.table, random)
    const isLate = clerk < LATE_CLERKS && random(100) < LATE_PERCENT
    await client.query('BEGIN')
    try {
      await (isLate ? moveLate() : chosen(deeds, random)())
      await sign(-1 - clerk, number)
      await client.query('COMMIT')
      this.commits++
    } catch (error) {
      if (!(error instanceof Undo) && !isCrossed(error)) throw error
      await client.query('ROLLBACK')
      this.rollbacks++
    } finally {
      // Also of one whose outcome nobody knows.
      this.#numbers[clerk] = number
    }
  }
}

/** What may be done within a transaction, and how often. */
function deedsOf(client: Client, table: string, random: Random) {
  const newId = () => 1 + random(MAX_ID)
  const anyNote = () => NOTES[random(NOTES.length)] ?? ''
  /** The first value of the only row. An account that another clerk has closed is a reason to give up. */
  const one = async (text: string, ...values: readonly unknown[]): Promise<unknown> => {
    const { rowCount, rows } = await client.query({ text, values: [...values], rowMode: 'array' })
    if (rowCount !== 1) throw new Undo()
    return rows[0]?.[0]
  }
  const anyId = async () => Number(await one(`SELECT id FROM ${table} WHERE id >= $1 ORDER BY id LIMIT 1`, newId()))
  const add = async (amount: number) => {
    const change = `UPDATE ${table} SET balance = balance + $2, note = $3 WHERE id = $1`
    await one(change, await anyId(), amount, anyNote())
  }
  const open = (id: number, balance: number) => one(`INSERT INTO ${table} VALUES ($1, $2, $3)`, id, balance, anyNote())
  const close = async (id: number) => Number(await one(`DELETE FROM ${table} WHERE id = $1 RETURNING balance`, id))
  const setKey = (id: number, key: number) => one(`UPDATE ${table} SET id = $2 WHERE id = $1`, id, key)
  const rename = async () => void (await setKey(await anyId(), newId()))
  const move = async (between: () => Promise<void> = async () => {}) => {
    const amount = random(MAX_AMOUNT)
    await add(-amount)
    await between()
    await add(amount)
  }
  /** The balances are wrong until this is rolled back. */
  const spoil = async () => {
    await add(MAX_AMOUNT)
    await close(await anyId())
  }

  const deeds: Weighted<() => Promise<void>> = [
    [400, () => move()],
    [
      // One account is closed, another one opened with a part of its balance, and somebody gets the rest.
      150,
      async () => {
        const balance = await close(await anyId())
        const part = random(MAX_AMOUNT)
        await open(newId(), part)
        await add(balance - part)
      },
    ],
    [100, rename],
    [
      // Two keys change places.
      50,
      async () => {
        const [id, other, between] = [await anyId(), await anyId(), MAX_ID + newId()]
        if (id === other) throw new Undo()
        await setKey(id, between)
        await setKey(other, id)
        await setKey(between, other)
      },
    ],
    [
      // Closed, and opened again under the same key.
      70,
      async () => {
        const id = await anyId()
        await open(id, await close(id))
      },
    ],
    [
      100,
      async () => {
        await move()
        await client.query('SAVEPOINT mind')
        await spoil()
        await client.query('ROLLBACK TO mind')
        await rename()
      },
    ],
    [
      100,
      async () => {
        await spoil()
        throw new Undo()
      },
    ],
    [
      30,
      async () => {
        await client.query(
          `UPDATE ${table} SET note = $2 WHERE id IN (
            SELECT id FROM ${table} WHERE id >= $1 ORDER BY id LIMIT ${BULK} FOR UPDATE SKIP LOCKED)`,
          [newId(), anyNote()],
        )
      },
    ],
    [
      1,
      async () => {
        await client.query(`
          LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE;
          CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM ${table};
          TRUNCATE ${table};
          INSERT INTO ${table} SELECT * FROM kept`)
      },
    ],
  ]
  const moveLate = () =>
    move(async () => {
      await rename()
      await sleep(LATE_MS + random(MAX_EXTRA_LATE_MS))
    })
  /** Counts the transaction. */
  const sign = (id: number, number: number) => one(`UPDATE ${table} SET note = $2 WHERE id = $1`, id, `${number}`)
  return { deeds, moveLate, sign }
}

/** The key of another one, or a deadlock: the connection is as it was. */
function isCrossed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(23505|40)/.test(String(error.code))
}

function isUsual(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return USUAL.test(code) || /^E[A-Z]+$/.test(code) || /^Connection terminated|not queryable/.test(error.message)
}

interface Account {
  readonly id: number
  readonly balance: number
  readonly note: string
}

/** The transactions that each clerk had counted, by the key of its account. */
export type Counts = ReadonlyMap<number, number>

/** A state that somebody has read, after one with these counts. */
export function checkState(what: string, texts: readonly string[], before: Counts, findings: Findings): Counts {
  const accounts = texts.map((text): Account => JSON.parse(text))
  const sum = accounts.reduce((total, { balance }) => total + balance, 0)
  const different = new Set(accounts.map(({ id }) => id)).size
  if (different < accounts.length) findings.add('doubled', `${accounts.length - different} keys in ${what}`)
  if (accounts.length !== ACCOUNTS) findings.add('partial', `${what} has ${accounts.length} accounts`)
  if (sum !== SUM) findings.add('partial', `the balances in ${what} add up to ${sum} instead of ${SUM}`)
  const counts = new Map(accounts.filter(({ id }) => id < 0).map(({ id, note }) => [id, Number(note)]))
  for (const [id, count] of before)
    if ((counts.get(id) ?? 0) < count)
      findings.add('lost', `${what} has ${counts.get(id)} transactions of clerk ${-id}, and one before had ${count}`)
  return counts
}
