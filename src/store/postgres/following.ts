/** What collections follow, as PostgreSQL's rows hold it. */

import { missingCollection } from '../collection-rules.ts'
import type { Following, NamedFollowing } from '../following.ts'
import { followingFrom, followingValues } from '../stored-rows.ts'
import { shardKeyOf } from './rows/head.ts'
import type { Rows } from './rows/rows.ts'
import type { Reading } from './rows/sender.ts'
import { Transaction } from './server/transaction.ts'

export async function readFollowings(rows: Reading): Promise<NamedFollowing[]> {
  return (await rows.all('readFollowings')).map(followingFrom)
}

/** The head is held only against being dropped: writers of the collection neither wait for this, nor this for them. */
export function noteFollowing(rows: Rows, name: string, following: Following | null): Promise<void> {
  const shardKey = shardKeyOf(name)
  return Transaction.run(rows, async (transaction) => {
    if ((await transaction.first('holdHead', shardKey, name)) === undefined) throw missingCollection(name)
    if (following === null) void transaction.write('deleteFollowing', shardKey, name)
    else void transaction.write('putFollowing', shardKey, name, ...followingValues(following))
    await transaction.commit()
  })
}
