/** Snapshots, and whole collections that are read in one. */

import { readItems } from '../../read-page.ts'
import type { Head, Segment } from '../../store.ts'
import type { Rows } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'

/** In memory at a time. */
const REAMS_AT_A_TIME = 16

/** It lasts as long as its reader takes, whatever the database allows others. */
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0'

/** Runs `read` in one snapshot, for what takes several statements. */
export async function inSnapshot<T>(rows: Rows, read: () => Promise<T>): Promise<T> {
  await rows.execute(SNAPSHOT)
  try {
    return await read()
  } finally {
    await rows.execute('ROLLBACK').catch(() => {})
  }
}

export async function* readAll(
  connections: Connections,
  name: string,
  onHead?: (head: Head) => void,
): AsyncGenerator<Segment> {
  const { rows, reasonOf, giveBack } = await connections.borrow()
  try {
    await rows.execute(SNAPSHOT)
    yield* readItems(rows.tables, name, REAMS_AT_A_TIME, onHead)
  } catch (error) {
    throw reasonOf(error)
  } finally {
    // Here too when the caller has had enough.
    const isUsable = await rows.execute('ROLLBACK').then(
      () => true,
      () => false,
    )
    giveBack(isUsable)
  }
}
