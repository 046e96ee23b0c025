/** The collections of a store with what they follow, and how far they are behind. */

import type { Following, NamedFollowing } from '../store/following.ts'
import type { ListedHead, Reachable, Store } from '../store/store.ts'

export interface Listed extends Reachable {
  /** By the name of the collection. */
  readonly followings: ReadonlyMap<string, NamedFollowing>
}

export async function listWithFollowings(store: Store): Promise<Listed> {
  const reachable = await store.reachable()
  // All servers have to answer for them. While one is away the rest of the list is worth more.
  const found = reachable.away.length > 0 ? [] : await store.followings()
  const followings = new Map(found.map((each) => [each.name, each]))
  for (const head of reachable.heads) {
    const following = mirrorFollowing(head, followings.get(head.name))
    if (following !== undefined) followings.set(head.name, following)
  }
  return { ...reachable, followings }
}

/** A mirror of which nobody has said how old it is, as in a store that was restored: it has been as it is since it last changed. */
function mirrorFollowing(
  { name, origin, changedAt }: ListedHead,
  noted: NamedFollowing | undefined,
): NamedFollowing | undefined {
  if (origin === null || (noted !== undefined && noted.asOf > 0) || changedAt === null) return noted
  return { name, source: origin.url, waiting: noted?.waiting ?? 0, asOf: changedAt, seenAt: noted?.seenAt ?? 0 }
}

/** How old the moment is that the collection shows. The clock of the source may be ahead of ours. */
export function secondsBehind({ asOf }: Following): number {
  return Math.max(0, Date.now() - asOf) / 1000
}
