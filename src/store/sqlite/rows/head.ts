/** The head of a collection as SQLite's rows hold it. */

import type { Head, ListedHead } from '../../store.ts'
import { checkAbsence, neighboursIn } from './absence.ts'
import {
  changeRowCount,
  checkRowCount,
  checkSum,
  columnsOf,
  insertInto,
  rowStart,
  type SummedTable,
  withSum,
} from './row-sum.ts'
import type { Row, Rows } from './rows.ts'

export const HEAD: SummedTable = {
  name: 'head',
  key: ['name'],
  columns: [
    'name',
    'id',
    'key_field',
    'paginated',
    'private',
    'generation',
    'version',
    'commit_id',
    'full_pages_id',
    'next',
    'live',
    'changed_at',
  ],
  title: ([name]) => `The head of ${JSON.stringify(name)}`,
}

/** How many columns a head takes in a row, without its name: what a statement selects after them begins here. */
export const HEAD_WIDTH = HEAD.columns.length

const NEIGHBOURS = neighboursIn(HEAD)

const BY_NAME = `SELECT ${columnsOf(HEAD, 1)} FROM head WHERE name = ?`
const ALL = `SELECT ${columnsOf(HEAD, 1)}, name FROM head ORDER BY name`
const PUT = insertInto(HEAD, 'INSERT OR REPLACE')
const DELETE = 'DELETE FROM head WHERE name = ?'

/** With `isPublicOnly` a private collection is as good as none, and takes as long. */
export function readHead(rows: Rows, name: string, isPublicOnly = false): Head | undefined {
  const head = findHead(rows, name)
  if (head !== undefined && !(isPublicOnly && head.isPrivate)) return head
  return rows.inSnapshot(() => findAgain(rows, name, isPublicOnly))
}

/** In one snapshot with the proof that there is none. */
function findAgain(rows: Rows, name: string, isPublicOnly: boolean): Head | undefined {
  const head = findHead(rows, name)
  if (head !== undefined && !(isPublicOnly && head.isPrivate)) return head
  checkAbsence(rows, NEIGHBOURS, undefined, [name], head !== undefined)
  checkRowCount(rows, HEAD)
  return undefined
}

function findHead(rows: Rows, name: string): Head | undefined {
  const row = rows.get(BY_NAME, name)
  return row && headOf(rows, name, row)
}

export function readAllHeads(rows: Rows): ListedHead[] {
  return rows.inSnapshot(() => {
    const found = rows.all(ALL)
    checkRowCount(rows, HEAD, found.length)
    return found.map((row) => ({
      ...headOf(rows, row[HEAD_WIDTH] as string, row),
      changedAt: row[HEAD_WIDTH - 2] as number | null,
    }))
  })
}

/** Reads the head from the first columns of a row. Its sum is right, so the types hold. */
export function headOf(rows: Rows, name: string, row: Row): Head {
  // Whether the reader may know of this collection is not known either.
  checkSum(rows, rowStart(HEAD, name), undefined, row)
  return {
    name,
    id: row[0] as number,
    keyField: row[1] as string | null,
    isPaginated: row[2] === 1,
    isPrivate: row[3] === 1,
    generation: row[4] as number,
    version: row[5] as number,
    commitId: row[6] as string,
    fullPagesId: row[7] as string,
    next: row[8] as number,
    live: row[9] as number,
  }
}

export function insertHead(rows: Rows, head: Head): void {
  putHead(rows, head)
  changeRowCount(rows, HEAD, 1)
}

/** In the place of the one that has its name. */
export function putHead(rows: Rows, head: Head): void {
  const { name, id, keyField, isPaginated, isPrivate, generation, version, commitId, fullPagesId, next, live } = head
  const settings = [id, keyField, Number(isPaginated), Number(isPrivate)]
  const state = [generation, version, commitId, fullPagesId, next, live, Date.now()]
  rows.run(PUT, ...withSum(rowStart(HEAD, name), ...settings, ...state))
}

export function deleteHead(rows: Rows, { name }: Head): void {
  rows.run(DELETE, name)
  changeRowCount(rows, HEAD, -1)
}
