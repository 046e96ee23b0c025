/** The head of a collection as SQLite's rows hold it. */

import type { Head, ListedHead } from '../../store.ts'
import { HEAD_COLUMNS, headFrom, originText } from '../../stored-rows.ts'
import { changeRowCount, checkAbsence, checkRowCount, checkSum, SummedTable, withSum } from './row-sum.ts'
import type { Row, Statements } from './statements.ts'

export const HEAD = new SummedTable(
  'head',
  'name',
  [...HEAD_COLUMNS, 'changed_at'].join(' '),
  ([name]) => `The head of ${JSON.stringify(name)}`,
)

/** Where, in a row that begins with a head, `changed_at` stands, and what a statement selects behind the head's checksum. */
const CHANGED_AT = HEAD_COLUMNS.length
export const HEAD_WIDTH = CHANGED_AT + 2

const BY_NAME = `SELECT ${HEAD.select(1)} FROM head WHERE name = ?`
const ALL = `SELECT ${HEAD.select(1)}, name FROM head ORDER BY name`
const PUT = HEAD.put()
const DELETE = 'DELETE FROM head WHERE name = ?'

/** With `isPublicOnly` a private collection is as good as none, and takes as long. */
export function readHead(rows: Statements, name: string, isPublicOnly = false): Head | undefined {
  const head = findHead(rows, name)
  if (head !== undefined && !(isPublicOnly && head.isPrivate)) return head
  return rows.inSnapshot(() => findAgain(rows, name, isPublicOnly))
}

/** In one snapshot with the proof that there is none. */
function findAgain(rows: Statements, name: string, isPublicOnly: boolean): Head | undefined {
  const head = findHead(rows, name)
  if (head !== undefined && !(isPublicOnly && head.isPrivate)) return head
  checkAbsence(rows, HEAD, undefined, [name], head !== undefined)
  checkRowCount(rows, HEAD)
  return undefined
}

function findHead(rows: Statements, name: string): Head | undefined {
  const row = rows.get(BY_NAME, name)
  return row && headOf(rows, name, row)
}

export function readAllHeads(rows: Statements): ListedHead[] {
  return rows.inSnapshot(() => {
    const found = rows.all(ALL)
    checkRowCount(rows, HEAD, found.length)
    return found.map((row) => ({
      ...headOf(rows, row[HEAD_WIDTH] as string, row),
      changedAt: row[CHANGED_AT] as number | null,
    }))
  })
}

/** Reads the head from the first columns of a row. Its sum is right, so the types hold. */
export function headOf(rows: Statements, name: string, row: Row): Head {
  // Whether the reader may know of this collection is not known either.
  checkSum(rows, HEAD.start(name), undefined, row)
  return headFrom(name, row)
}

export function insertHead(rows: Statements, head: Head): void {
  putHead(rows, head)
  changeRowCount(rows, HEAD, 1)
}

/** In the place of the one that has its name. */
export function putHead(rows: Statements, head: Head): void {
  const { name, id, keyField, isPaginated, isPrivate, generation, version, commitId, fullPagesId, next, live } = head
  const settings = [id, keyField, Number(isPaginated), Number(isPrivate)]
  const state = [generation, version, commitId, fullPagesId, next, live]
  const history = [head.changes, head.historyFrom, head.retentionMs, head.retentionBytes, originText(head)]
  rows.run(PUT, ...withSum(HEAD.start(name), ...settings, ...state, ...history, Date.now()))
}

export function deleteHead(rows: Statements, { name }: Head): void {
  rows.run(DELETE, name)
  changeRowCount(rows, HEAD, -1)
}
