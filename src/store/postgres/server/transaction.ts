/** One transaction on a connection where statements are sent without waiting, and what became of it. */

import { stateOf } from '../../../postgres/postgres-error.ts'
import { PostgresRows } from '../rows/postgres-rows.ts'
import type { Rows } from '../rows/rows.ts'
import type { Result, Row, Statement } from '../rows/sender.ts'
import { isCommitUndone, isRefused, OutcomeUnknown, TOOK_TOO_LONG } from './explain-error.ts'

/** For what another writer holds, and for us, should we fall silent in the middle. */
const LOCK_MS = 5_000
const IDLE_MS = 15_000

/** How PostgreSQL plans our statements, on every connection that is ours alone and in every transaction. */
export const PLANNER_SETTINGS = {
  /** Citus has to see the shard key to know the shard, and a plan for any value does not show it. */
  plan_cache_mode: 'auto',
  /** A plan is kept while its tables grow: one that was made when they were small must not read all of them. */
  enable_seqscan: 'off',
  /** The setting above makes a plan look so expensive that PostgreSQL would compile it, which takes longer than to run it. */
  jit: 'off',
}

const SET_PLANNER = Object.entries(PLANNER_SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', true)`)

/**
 * All settings end with the transaction: a pooler may be in between. Citus hands SET LOCAL on to its workers if it is told
 * to, each time with the whole text that it came in: so those that matter there come alone, and others are set by a function.
 * Durability is asked for here too, not only where a head is locked: tokens have none.
 */
const begin = (statementMs: number): string => `
  BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT set_config('statement_timeout', '${statementMs}', true),
    set_config('idle_in_transaction_session_timeout', '${IDLE_MS}', true),
    ${SET_PLANNER.join(', ')}, set_config('citus.propagate_set_commands', 'local', true),
    CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END`

/** A statement in a transaction in which one has failed. */
const ABORTED = '25P02'

const LIMIT_WAITING = `SET LOCAL lock_timeout = ${LOCK_MS}`

/** Durable with the next commit that is: they are on disk in the order in which they were made. */
const DURABLE_LATER = 'SET LOCAL synchronous_commit = off'

export class Transaction {
  readonly #rows: Rows
  /** What was sent and not waited for. */
  readonly #sent: Promise<unknown>[] = []

  private constructor(rows: Rows, isDurable: boolean) {
    this.#rows = rows
    const texts = [begin(rows.options.statementMs), LIMIT_WAITING, ...(isDurable ? [] : [DURABLE_LATER])]
    for (const text of texts) this.#follow(rows.execute(text))
  }

  /** Runs `work` in a transaction, which it ends with `commit`; if it does not, nothing of it stays. */
  static run<T>(rows: Rows, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return Transaction.#run(new Transaction(rows, true), work)
  }

  /**
   * The same for what nobody sees before a later transaction, which is durable, and this one with it. Should the database
   * crash in between, this one may be gone though it was answered: the later one has to look.
   */
  static runUnseen<T>(rows: Rows, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return Transaction.#run(new Transaction(rows, false), work)
  }

  static async #run<T>(transaction: Transaction, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      return await work(transaction)
    } catch (error) {
      // A server that hangs would not answer ROLLBACK either. The connection is closed, which undoes it as well.
      if (stateOf(error) === TOOK_TOO_LONG) transaction.#isEnded = true
      throw stateOf(error) === ABORTED ? await transaction.#firstFailure(error) : error
    } finally {
      await transaction.#rollBack()
    }
  }

  #isEnded = false

  /** The error of the statement that aborted the transaction: those after it only say that it is aborted. */
  async #firstFailure(error: unknown): Promise<unknown> {
    const outcomes = await Promise.allSettled(this.#sent)
    return outcomes.find((outcome) => outcome.status === 'rejected')?.reason ?? error
  }

  /** The rows that it reads and writes. */
  readonly tables: PostgresRows = new PostgresRows(this, this)

  async all(statement: Statement, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#follow(this.#rows.send(statement, ...values))).rows
  }

  async first(statement: Statement, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.all(statement, ...values))[0]
  }

  /** Sends a statement. Whoever does not wait for it learns from `commit` whether it failed. */
  write(statement: Statement, ...values: readonly unknown[]): Promise<Result> {
    return this.#follow(this.#rows.send(statement, ...values))
  }

  /** Rejects with what failed first. With an OutcomeUnknown all of it may have been done, or nothing. */
  async commit(): Promise<void> {
    this.#isEnded = true
    const committing = this.#rows.execute('COMMIT')
    const outcomes = await Promise.allSettled([...this.#sent, committing])
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed === undefined) {
      if ((await committing) !== 'COMMIT') throw new Error('PostgreSQL rolled the transaction back.')
      return
    }
    const last = outcomes.at(-1)
    const isRolledBack = last?.status === 'fulfilled' && last.value === 'ROLLBACK'
    const isUndone = failed === last ? isCommitUndone : isRefused
    if (isRolledBack || isUndone(failed.reason)) throw failed.reason
    throw new OutcomeUnknown('No certain answer came to COMMIT.', { cause: failed.reason })
  }

  async #rollBack(): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    await Promise.allSettled([...this.#sent, this.#rows.execute('ROLLBACK')])
  }

  #follow<T>(sent: Promise<T>): Promise<T> {
    // It is looked at again in the end: until then nobody may be waiting for it.
    sent.catch(() => {})
    this.#sent.push(sent)
    return sent
  }
}
