/** The collections of a store with what they follow, and how far they are behind. */

import type { Following, NamedFollowing } from '../store/following.ts'
import type { Reachable, Store } from '../store/store.ts'

export interface Listed extends Reachable {
  /** By the name of the collection. */
  readonly followings: ReadonlyMap<string, NamedFollowing>
}

export async function listWithFollowings(store: Store): Promise<Listed> {
  const reachable = await store.reachable()
  // All servers have to answer for them. While one is away the rest of the list is worth more.
  const found = reachable.away.length > 0 ? [] : await store.followings()
  return { ...reachable, followings: new Map(found.map((each) => [each.name, each])) }
}

/** How old the moment is that the collection shows. The clock of the source may be ahead of ours. */
export function secondsBehind({ asOf }: Following): number {
  return Math.max(0, Date.now() - asOf) / 1000
}
