/** Opens stores in memory for tests. */

import { FOLLOWING, type StoredHead, TABLES, type Table } from '../../src/store/tables.ts'
import { KILLED } from './describe-abandoned-loads.ts'
import type { MemoryRows } from './memory/memory-rows.ts'
import { MemoryDatabase, MemoryStore } from './memory/memory-store.ts'
import type { RowValue, RowValues, StoredRows } from './stored-rows.ts'
import type { Engine, StoreUnderTest } from './test-store.ts'

export const MEMORY_ENGINE: Engine = {
  open: openMemoryForTest,
  leavesOut: { [KILLED]: 'A store in memory lives in one process and ends with it.' },
}

export async function openMemoryForTest(): Promise<StoreUnderTest> {
  const database = new StrictDatabase()
  const store = new MemoryStore(database)
  const rows = new MemoryStoredRows(database)
  return {
    store,
    location: 'memory',
    rows,
    async ageRequests(ms, keys) {
      await database.commit(({ tables: { request_log } }) => {
        for (const [place, request] of request_log)
          if (keys?.includes(request.key) ?? true) request_log.set(place, { ...request, at: Date.now() - ms })
      })
    },
    async ageStates(ms, collection, version) {
      await rows.update('state', collection, version === undefined ? {} : { version }, { at: Date.now() - ms })
    },
    async ageLeases() {
      await database.commit(({ tables: { lease } }) => {
        for (const each of lease.values()) lease.set(each.name, { ...each, renewedAt: 0 })
      })
    },
    async forbidRequest(key) {
      database.forbidden = key
      return async () => {
        database.forbidden = undefined
      }
    },
    openAgain: async ({ forgetEveryMs, historyBytes } = {}) => new MemoryStore(database, forgetEveryMs, historyBytes),
    remove: () => store.close(),
  }
}

/** Fails a transaction that remembers a forbidden request, as a constraint would. */
class StrictDatabase extends MemoryDatabase {
  forbidden: string | undefined

  override commit<T>(work: (rows: MemoryRows) => T | Promise<T>): Promise<T> {
    return super.commit(async (rows) => {
      const result = await work(rows)
      const isForbidden = [...rows.tables.request_log.values()].some(({ key }) => key === this.forbidden)
      if (isForbidden) throw new Error(`The request "${this.forbidden}" is forbidden.`)
      return result
    })
  }
}

/** A row in some table, by the names of its columns. */
interface NamedRow {
  readonly values: RowValues
  remove(): void
  /** Inserts it with other values. */
  put(set: RowValues): void
}

class MemoryStoredRows implements StoredRows {
  readonly #database: MemoryDatabase

  constructor(database: MemoryDatabase) {
    this.#database = database
  }

  count(table: string, collection?: string): Promise<number> {
    return this.#database.commit((rows) => namedRows(rows, table, collection).length)
  }

  values(table: string, column: string, collection?: string): Promise<readonly RowValue[]> {
    return this.#database.commit((rows) =>
      namedRows(rows, table, collection).map(({ values }) => values[column] ?? null),
    )
  }

  addLeftover(collection: string, generationId: number): Promise<unknown> {
    return this.#database.commit((rows) => {
      const { name, shardKey } = rows.readHead(collection) as StoredHead
      rows.addLeftover({ name, shardKey, generationId }, 0)
    })
  }

  update(table: string, collection: string, where: RowValues, set: RowValues): Promise<number> {
    return this.#change(table, collection, where, (row) => {
      row.remove()
      row.put(set)
    })
  }

  delete(table: string, collection: string, where: RowValues): Promise<number> {
    return this.#change(table, collection, where, (row) => row.remove())
  }

  copy(table: string, collection: string, where: RowValues, set: RowValues): Promise<number> {
    return this.#change(table, collection, where, (row) => row.put(set))
  }

  #change(table: string, collection: string, where: RowValues, change: (row: NamedRow) => void): Promise<number> {
    return this.#database.commit((rows) => {
      const isWanted = ({ values }: NamedRow) => Object.entries(where).every(([name, value]) => values[name] === value)
      const wanted = namedRows(rows, table, collection).filter(isWanted)
      wanted.forEach(change)
      return wanted.length
    })
  }
}

function namedRows(rows: MemoryRows, name: string, collection: string | undefined): NamedRow[] {
  const id = collection === undefined ? undefined : (rows.tables.head.get(collection)?.id ?? -1)
  if (name === FOLLOWING.name)
    return namedRowsOf(rows, FOLLOWING).filter(({ values }) => values['name'] === (collection ?? values['name']))
  const table = TABLES.find((each) => each.name === name)
  return table === undefined ? namedObjects(rows, name, collection, id) : namedRowsOf(rows, table, id)
}

/** Rows that are objects: their fields have the names of the columns that tests use. */
function namedObjects({ tables }: MemoryRows, name: string, collection?: string, id?: number): NamedRow[] {
  const { head, lease, leftover, request_log } = tables
  const map = { head, lease, leftover, request_log }[name] as unknown as Map<string, RowValues>
  const isOwn = (key: string) => (name === 'leftover' ? key.startsWith(`${id} `) : key === collection)
  const found = [...map].filter(([key]) => collection === undefined || isOwn(key))
  return found.map(([key, values]) => ({
    values,
    put: (set) => map.set(String(set['name'] ?? key), { ...values, ...set }),
    remove: () => map.delete(key),
  }))
}

function namedRowsOf(rows: MemoryRows, table: Table, wanted?: number): NamedRow[] {
  return [...rows.tables.rows].flatMap(([place, found]) => {
    const [name, id, generationId] = place.split(' ')
    if (name !== table.name || (wanted !== undefined && Number(id) !== wanted)) return []
    const owner = { name: undefined, id: Number(id), shardKey: Number(id), generationId: Number(generationId) }
    return found.map((row): NamedRow => {
      const named = Object.fromEntries(table.columns.map((column, index) => [column.name, row[index] ?? null]))
      const values: RowValues = { generationId: owner.generationId, ...named }
      return {
        values,
        put(set) {
          const changed: RowValues = { ...values, ...set }
          const place = { ...owner, generationId: Number(changed['generationId']) }
          rows.put(table, place, [table.columns.map((column) => changed[column.name] ?? null)])
        },
        remove: () => rows.remove(table, owner, [row.slice(0, table.key.length)]),
      }
    })
  })
}
