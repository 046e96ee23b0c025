/** Lays the rows of an SQLite store open to the check of its invariants. */

import type { VerifyResult } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { type OpenRows, verifyRows } from '../verify.ts'
import { openReadConnection } from './connection.ts'
import { explainError } from './explain-error.ts'
import { readAllHeads, readHead } from './head.ts'
import { findPage } from './read.ts'
import { Rows } from './rows.ts'
import { readReams, readTailItems } from './stored-ream.ts'

const HOLES = 'SELECT level, block, gone FROM hole WHERE collection_id = ? AND generation = ?'
const POSITION_OF_KEY = 'SELECT position FROM key WHERE collection_id = ? AND generation = ? AND key = ?'
const COUNT_KEYS = `
  SELECT count(*) FILTER (WHERE position < ?3), count(*) FILTER (WHERE position >= ?3)
  FROM key WHERE collection_id = ?1 AND generation = ?2`
const UNSEEN = `
  SELECT 1 FROM lease WHERE collection_id = ?1 AND generation = ?2
  UNION ALL SELECT 1 FROM leftover WHERE collection_id = ?1 AND generation = ?2`
/** Rows of a generation that neither a head nor a load nor a leftover accounts for. */
const STRAYS = ['ream', 'tail', 'key', 'hole'].map(
  (table) => `
    SELECT '${table}', collection_id, generation, count(*) FROM ${table}
    WHERE (collection_id, generation) NOT IN (
      SELECT collection_id, generation FROM head
      UNION ALL SELECT collection_id, generation FROM lease
      UNION ALL SELECT collection_id, generation + 1 FROM lease
      UNION ALL SELECT collection_id, generation FROM leftover)
    GROUP BY collection_id, generation`,
)
/** What is to be swept, or belongs to a load, must not be what readers see. */
const LEFTOVERS_IN_USE = `
  SELECT c.name FROM collection c JOIN head h ON h.collection_id = c.id
  JOIN (SELECT collection_id, generation, base FROM leftover UNION ALL SELECT collection_id, generation, base FROM lease) l
    ON l.collection_id = h.collection_id AND l.generation = h.generation AND l.base < h.next`
const HEADS_WITHOUT_COLLECTION = 'SELECT collection_id FROM head WHERE collection_id NOT IN (SELECT id FROM collection)'
const COLLECTIONS_WITHOUT_HEAD = 'SELECT name FROM collection WHERE id NOT IN (SELECT collection_id FROM head)'

/** A position beyond every other. */
const END = Number.MAX_SAFE_INTEGER

export async function verifySqlite(
  path: string,
  onProgress?: (items: number, total: number) => void,
): Promise<VerifyResult> {
  try {
    const database = openReadConnection(path)
    try {
      database.exec('BEGIN')
      return await verifyRows(openRows(new Rows(database)), onProgress)
    } finally {
      database.close()
    }
  } catch (error) {
    throw explainError(error, path)
  }
}

function openRows(rows: Rows): OpenRows {
  return {
    heads: () => readAllHeads(rows),
    reams: (head) => readReams(rows, head, END),
    tail: (head) => readTailItems(rows, head, 0, END),
    *holes(head) {
      for (const [level, block, gone] of rows.all(HOLES, head.id, head.generation) as [number, number, number][])
        yield { level, block, gone }
    },
    positions: (head, keys) =>
      keys.map((key) => rows.get(POSITION_OF_KEY, head.id, head.generation, key)?.[0] as number | undefined),
    countKeys(head) {
      const [visible = 0, unseen = 0] = rows.get(COUNT_KEYS, head.id, head.generation, head.next) as number[]
      return { visible, unseen }
    },
    mayHaveUnseen: (head) => rows.get(UNSEEN, head.id, head.generation) !== undefined,
    page({ name }, page) {
      const head = readHead(rows, name)
      if (head === undefined) throw new StoreError('corrupt', `The collection "${name}" cannot be found by its name.`)
      return findPage(rows, head, page)
    },
    ownFindings: () => ownFindings(rows),
  }
}

function* ownFindings(rows: Rows): Generator<string> {
  for (const [message] of rows.all('PRAGMA quick_check')) if (message !== 'ok') yield `SQLite: ${message}`
  for (const [id] of rows.all(HEADS_WITHOUT_COLLECTION)) yield `The head of id ${id} belongs to no collection.`
  for (const [name] of rows.all(LEFTOVERS_IN_USE))
    yield `Items of the collection "${name}" that readers see are marked as left over, or as those of a load.`
  for (const [name] of rows.all(COLLECTIONS_WITHOUT_HEAD)) yield `The collection "${name}" has no head.`
  for (const stray of STRAYS)
    for (const [table, id, generation, count] of rows.all(stray))
      yield `${count} rows of "${table}" belong to no collection (id ${id}, generation ${generation}).`
}
