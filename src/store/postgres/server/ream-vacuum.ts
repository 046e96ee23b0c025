/**
 * Removes dead rows of the table `ream` soon after writes. Autovacuum looks once a minute by default, and in a minute changes all over a
 * collection leave gigabytes of dead rows. A role that may not vacuum leaves it to autovacuum.
 */

import type { Rows } from '../rows/rows.ts'
import type { Connections } from './connection.ts'

const LOOK_EVERY_MS = 5_000
/** After a VACUUM that failed, or could not remove enough because somebody still holds an old snapshot. Twice as long each time. */
const MIN_PAUSE_MS = 60_000
const MAX_PAUSE_MS = 3_600_000

/** So many dead rows are worth a VACUUM, and in a large table this share of it. A row of a TOAST table has up to 2 kB. */
const MIN_DEAD_ROWS = 32_000
const DEAD_SHARE = 0.05

/** What PostgreSQL knows of the table. */
interface Found {
  readonly mayVacuum: boolean
  readonly hasManyDeadRows: boolean
  /** Whether as many rows came since the last VACUUM, whoever ran it. */
  readonly hasManyNewRows: boolean
  /** How often it was vacuumed. */
  readonly runs: number
}

export class ReamVacuum {
  readonly #connections: Connections
  readonly #schema: string
  #timer: NodeJS.Timeout | undefined
  #pauseMs = MIN_PAUSE_MS
  #isClosed = false
  /** Of the server, while it vacuums for us. */
  #processId: number | undefined

  /** The connections must not limit how long a statement may take. */
  constructor(connections: Connections, schema: string) {
    this.#connections = connections
    this.#schema = schema
  }

  noteWrite(): void {
    if (!this.#isClosed && this.#timer === undefined) this.#lookIn(LOOK_EVERY_MS)
  }

  /** Cancels a VACUUM that runs. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const processId = this.#processId
    if (processId === undefined) return
    await this.#connections.lend((rows) => rows.query(`SELECT pg_cancel_backend(${processId})`)).catch(() => {})
  }

  #lookIn(ms: number): void {
    const look = async (): Promise<void> => {
      const isUseless = await this.#connections.lend((rows) => this.#vacuum(rows)).catch(() => true)
      this.#processId = undefined
      this.#timer = undefined
      if (isUseless && !this.#isClosed) this.#lookIn(this.#pauseMs)
      this.#pauseMs = isUseless ? Math.min(MAX_PAUSE_MS, 2 * this.#pauseMs) : MIN_PAUSE_MS
    }
    this.#timer = setTimeout(() => void look(), ms).unref()
  }

  /** Returns whether it removed too little to try again soon. */
  async #vacuum(rows: Rows): Promise<boolean> {
    const before = await this.#look(rows)
    if (!before?.mayVacuum || !before.hasManyDeadRows || !before.hasManyNewRows) return false
    const [[processId] = []] = await rows.query('SELECT pg_backend_pid()')
    this.#processId = Number(processId)
    if (this.#isClosed) return false
    await rows.execute(`VACUUM (SKIP_LOCKED, TRUNCATE false) "${this.#schema}".ream`)
    const after = await this.#look(rows)
    // If somebody else vacuums the table, or locks it, this one is skipped.
    return after?.hasManyDeadRows === true && after.runs > before.runs
  }

  async #look(rows: Rows): Promise<Found | undefined> {
    const many = `greatest(${MIN_DEAD_ROWS}, s.n_live_tup * ${DEAD_SHARE})`
    const [row] = await rows.query(`
      SELECT pg_has_role(r.relowner, 'USAGE'), s.n_dead_tup > ${many}, s.n_ins_since_vacuum > ${many},
        s.vacuum_count + s.autovacuum_count
      FROM pg_catalog.pg_class r JOIN pg_catalog.pg_stat_all_tables s ON s.relid = r.reltoastrelid
      WHERE r.oid = to_regclass('"${this.#schema}".ream')`)
    if (row === undefined) return undefined
    const [mayVacuum, hasManyDeadRows, hasManyNewRows, runs] = row as [boolean, boolean, boolean, number]
    return { mayVacuum, hasManyDeadRows, hasManyNewRows, runs }
  }
}
