/** All items of a collection in order, from a snapshot that lasts as long as the caller takes. */

import { missingCollection } from '../collection-rules.ts'
import type { Segment } from '../store.ts'
import type { Connections } from './connection.ts'
import { readHead } from './head.ts'
import { readSegments, SNAPSHOT } from './read.ts'

export async function* readAll(connections: Connections, name: string): AsyncGenerator<Segment> {
  const { rows, giveBack } = await connections.borrow()
  try {
    await rows.execute(SNAPSHOT)
    const head = await readHead(rows, name)
    if (head === undefined) throw missingCollection(name)
    yield* readSegments(rows, head)
  } finally {
    // Here too when the caller has had enough.
    const isUsable = await rows.execute('ROLLBACK').then(
      () => true,
      () => false,
    )
    giveBack(isUsable)
  }
}
