/**
 * Removes dead rows of the table `ream` soon after writes. Autovacuum looks once a minute by default, and in a minute changes all over a
 * collection leave gigabytes of dead rows. A role that may not vacuum leaves it to autovacuum.
 */

import type { Rows } from '../rows/rows.ts'
import type { Connections } from './connection.ts'

const LOOK_EVERY_MS = 5_000
/** After a VACUUM that could not remove enough, because somebody still holds an old snapshot. */
const PAUSE_MS = 60_000

/** So many dead rows are worth a VACUUM. A row of a TOAST table has up to 2 kB. */
const MIN_DEAD_ROWS = 32_000
/** In a large table: this share of it. */
const MAX_DEAD_SHARE = 0.05

export class ReamVacuum {
  readonly #connections: Connections
  readonly #schema: string
  #timer: NodeJS.Timeout | undefined
  #pauseMs = LOOK_EVERY_MS
  #isClosed = false
  #disconnect: (() => void) | undefined

  constructor(connections: Connections, schema: string) {
    this.#connections = connections
    this.#schema = schema
  }

  noteWrite(): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => void this.#look(), this.#pauseMs).unref()
  }

  /** Does not wait for a VACUUM that runs: it does no harm. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#disconnect?.()
  }

  async #look(): Promise<void> {
    let isUsable = false
    const borrowed = await this.#connections.borrow().catch(() => undefined)
    if (this.#isClosed) return borrowed?.giveBack(true)
    this.#disconnect = () => borrowed?.giveBack(false)
    try {
      if (borrowed !== undefined) this.#pauseMs = await this.#vacuum(borrowed.rows)
      isUsable = true
    } catch {
      // It is tried again after the next write.
    } finally {
      if (!this.#isClosed) borrowed?.giveBack(isUsable)
      this.#disconnect = undefined
      this.#timer = undefined
    }
  }

  /** Returns how long to wait until the next look. */
  async #vacuum(rows: Rows): Promise<number> {
    if (!(await this.#isDue(rows))) return LOOK_EVERY_MS
    await rows.execute(`VACUUM (SKIP_LOCKED, TRUNCATE false) "${this.#schema}".ream`)
    return (await this.#isDue(rows)) ? PAUSE_MS : LOOK_EVERY_MS
  }

  async #isDue(rows: Rows): Promise<boolean> {
    const [row] = await rows.query(`
      SELECT s.n_dead_tup > greatest(${MIN_DEAD_ROWS}, s.n_live_tup * ${MAX_DEAD_SHARE}) AND pg_has_role(r.relowner, 'USAGE')
      FROM pg_catalog.pg_class r JOIN pg_catalog.pg_stat_all_tables s ON s.relid = r.reltoastrelid
      WHERE r.oid = to_regclass('"${this.#schema}".ream')`)
    return row?.[0] === true
  }
}
