/** The tag of a state: what stands behind the `@` in the address of a snapshot, and of the changes since (D22, D23). */

import { isCollectionName } from './name.ts'

/** One state of one collection, at one commit. */
export interface StateTag {
  readonly collectionId: number
  readonly version: number
  /** How many changes of the collection came before it. */
  readonly changes: number
  /** What the commit drew at random: a backup that was put back can reach the same version once more. */
  readonly commitId: string
}

/** The state that a collection with such a head is in. */
export function stateOf({ id, version, changes, commitId }: Omit<StateTag, 'collectionId'> & { readonly id: number }) {
  return { collectionId: id, version, changes, commitId } satisfies StateTag
}

/** Whether earlier states of a collection can be read. An unpaginated one is so small that it is read as a whole. */
export function keepsHistory({
  isPaginated,
  retentionMs,
}: {
  readonly isPaginated: boolean
  readonly retentionMs: number
}): boolean {
  return isPaginated && retentionMs > 0
}

/** `<id>-<version>-<changes>-<commit>`: the numbers in base 36. Opaque to clients. */
export function formatTag({ collectionId, version, changes, commitId }: StateTag): string {
  return `${collectionId.toString(36)}-${version.toString(36)}-${changes.toString(36)}-${commitId}`
}

/** Undefined for a text that no state has as its tag. */
export function parseTag(text: string): StateTag | undefined {
  const [, id, version, changes, commitId] = /^([0-9a-z]+)-([0-9a-z]+)-([0-9a-z]+)-([\w-]{11})$/.exec(text) ?? []
  if (id === undefined || version === undefined || changes === undefined || commitId === undefined) return undefined
  const tag = { collectionId: readNumber(id), version: readNumber(version), changes: readNumber(changes), commitId }
  // Each state has one tag: none with leading zeros, or with more digits than a number keeps.
  return formatTag(tag) === text ? tag : undefined
}

function readNumber(text: string): number {
  return Number.parseInt(text, 36)
}

/** What the path of a collection names: the collection itself, a snapshot of it, or the changes since. */
export interface CollectionPath {
  readonly name: string
  /** The text behind the `@`, be it a tag or not; undefined for the collection itself. */
  readonly tag: string | undefined
  readonly isChanges: boolean
}

/** `events`, `events@<tag>`, `events@<tag>..`; undefined for what is none of these. */
export function parseCollectionPath(path: string): CollectionPath | undefined {
  const at = path.indexOf('@')
  const name = at === -1 ? path : path.slice(0, at)
  if (!isCollectionName(name)) return undefined
  if (at === -1) return { name, tag: undefined, isChanges: false }
  const isChanges = path.endsWith('..')
  return { name, tag: path.slice(at + 1, isChanges ? -2 : undefined), isChanges }
}
