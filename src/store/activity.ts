/** What a store has done since it was opened, in numbers. Counting is cheap enough to be always on. */

export class StoreActivity {
  /** By what was asked for: the head of a collection, a page, an item. */
  readonly reads = { head: 0, page: 0, item: 0 }
  /** Commits, by the number of changes that they made durable together. */
  readonly commits = new Map<number, number>()
  /** Changes that were asked for, and are not durable yet. */
  waitingChanges = 0

  /** Told, in words, what whoever runs the store should know of. */
  onNotice: (message: string) => void = () => {}

  addCommit(changes: number): void {
    if (changes > 0) this.commits.set(changes, (this.commits.get(changes) ?? 0) + 1)
  }
}
