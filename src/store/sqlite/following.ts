/** What collections follow, as SQLite's rows hold it. */

import { missingCollection } from '../collection-rules.ts'
import type { Following, NamedFollowing } from '../following.ts'
import { FOLLOWING_COLUMNS, followingFrom, followingValues } from '../stored-rows.ts'
import { readHead } from './rows/head.ts'
import { checkSum, SummedTable, withSum } from './rows/row-sum.ts'
import type { Statements } from './rows/statements.ts'

const FOLLOWING = new SummedTable(
  'following',
  'name',
  FOLLOWING_COLUMNS.join(' '),
  ([name]) => `What ${JSON.stringify(name)} follows`,
)

const ALL = `SELECT ${FOLLOWING.select(0)} FROM following ORDER BY name`
const PUT = FOLLOWING.put()
const DELETE = 'DELETE FROM following WHERE name = ?'

export function readFollowings(rows: Statements): NamedFollowing[] {
  return rows.all(ALL).map((row) => {
    checkSum(rows, FOLLOWING.start(), undefined, row)
    return followingFrom(row)
  })
}

export function noteFollowing(rows: Statements, name: string, following: Following | null): void {
  if (readHead(rows, name) === undefined) throw missingCollection(name)
  if (following === null) deleteFollowing(rows, name)
  else rows.run(PUT, ...withSum(FOLLOWING.start(name), ...followingValues(following)))
}

export function deleteFollowing(rows: Statements, name: string): void {
  rows.run(DELETE, name)
}
