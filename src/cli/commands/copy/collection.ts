/** Copies one collection: all of it or nothing, read back and compared afterwards. */

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ItemError } from '../../../items/item-scanner.ts'
import { toNdjson } from '../../../items/item-text.ts'
import { existingCollection } from '../../../store/collection-rules.ts'
import { ReadAhead, runMaker } from '../../../store/read-ahead.ts'
import type { Head, Load, Origin, Segment, Store } from '../../../store/store.ts'
import { ItemConflict, StoreError } from '../../../store/store-error.ts'
import type { DataLocation } from '../../data-location.ts'
import { describeFailure, Failure } from '../../failure.ts'
import { startProgress } from '../../progress.ts'
import type { SettingValues } from '../../setting-values.ts'

export interface Side {
  readonly location: DataLocation
  readonly store: Store
}

export interface CopyJob {
  readonly from: Side
  readonly to: Side
  /** Swap collections that are there already, and differ. */
  readonly isReplacement: boolean
  /** Those of the command: whether it reports in JSON. */
  readonly settings: SettingValues
  readonly signal: AbortSignal
}

/** Segments between two turns of the event loop: reading a file never waits for anything. */
const SEGMENTS_PER_TURN = 8

export interface Copied {
  readonly head: Head
  /** False where others have written to it since, so that there was nothing to compare with. */
  readonly isCompared: boolean
  /** SHA-256 of the items in order, as `reams export` writes them. */
  readonly sha256: string
}

/** Readers of the target see all of it, at once, or nothing. A copy of a mirror is a mirror, at the same position. */
export async function copyCollection(job: CopyJob, origin: Head): Promise<Copied> {
  const { from, to, isReplacement } = job
  const { name, keyField, isPaginated, isPrivate } = origin
  const settings = { keyField, isPaginated, isPrivate }
  const isMirroring = await isSameMirror(job, origin)
  const load = await whenFree(job, () => to.store.load(name, { settings, isReplacement, isMirroring }))
  try {
    // Nobody can create the collection while the load is running, but somebody may have before it began.
    if (!isReplacement && (await to.store.head(name)) !== undefined) throw existingCollection(name)
    const { sha256, mirrorOrigin } = await send(job, origin, load)
    job.signal.throwIfAborted()
    const { head } = await load.commit(mirrorOrigin)
    const isSame = (await sumOf(job, to, head, 'checking')) === sha256
    const isCompared = isSame || (await to.store.head(name))?.commitId === head.commitId
    if (!isSame && isCompared) throw differing(to.location, name)
    return { head, sha256, isCompared }
  } catch (error) {
    await load.abort().catch(() => {})
    const isDamage = error instanceof ItemError || error instanceof ItemConflict
    throw isDamage ? damaged(from.location, name, error) : nameFailure(error, name)
  }
}

/** Whether the source is a mirror, and the target, if it is one too, mirrors the same. No other load may change a mirror. */
async function isSameMirror({ to }: CopyJob, { name, origin }: Head): Promise<boolean> {
  if (origin === null) return false
  const target = await to.store.head(name)
  return (target?.origin ?? origin).url === origin.url
}

/** For how long history is kept from now on. History itself stays behind: its states are those of the other store. */
export async function copyRetention({ to }: CopyJob, { name, retentionMs, retentionBytes }: Head): Promise<void> {
  const target = await to.store.head(name)
  const isSame = target?.retentionMs === retentionMs && target.retentionBytes === retentionBytes
  if (target !== undefined && !isSame) await to.store.setRetention(name, { retentionMs, retentionBytes })
}

/** The SHA-256 of the collection if it is the same at both ends. */
export async function sumIfSame(job: CopyJob, origin: Head, target: Head): Promise<string | undefined> {
  if (origin.live !== target.live || differencesOf(origin, target).length > 0) return undefined
  // Both at once, and one bar for both: they have the same to do.
  const [here, there] = await Promise.all([sumOf(job, job.from, origin, 'comparing'), sumOf(job, job.to, target)])
  return here === there ? here : undefined
}

/** The settings in which two collections differ, as the target has them. */
export function differencesOf(origin: Head, target: Head): string[] {
  const words: string[] = []
  if (origin.keyField !== target.keyField)
    words.push(target.keyField === null ? 'without a key' : `with the key "${target.keyField}"`)
  if (origin.isPaginated !== target.isPaginated) words.push(target.isPaginated ? 'paginated' : 'unpaginated')
  if (origin.isPrivate !== target.isPrivate) words.push(target.isPrivate ? 'private' : 'public')
  return words
}

/** The position of a mirror belongs to the items, so it comes from the same snapshot. */
async function send(job: CopyJob, origin: Head, load: Load) {
  const ahead = new ReadAhead()
  const runOf = runMaker(origin.keyField)
  const sum = createHash('sha256')
  let mirrorOrigin: Origin | undefined
  const onHead = (head: Head) => {
    mirrorOrigin = head.origin ?? undefined
  }
  try {
    for await (const segment of read(job, job.from, origin, 'copying', onHead)) {
      const run = runOf([segment])
      sum.update(toNdjson(run.text))
      await ahead.add(load.append(run), run.text.byteLength)
    }
  } finally {
    // All must have come to its end before `abort`.
    await ahead.end()
  }
  return { sha256: sum.digest('hex'), mirrorOrigin }
}

async function sumOf(job: CopyJob, side: Side, head: Head, what?: string): Promise<string> {
  const sum = createHash('sha256')
  for await (const segment of read(job, side, head, what)) sum.update(toNdjson(segment.raw()))
  return sum.digest('hex')
}

/** All items of a collection, from one snapshot. `what` is shown with the progress; without it nothing is. */
async function* read(
  { signal }: CopyJob,
  side: Side,
  head: Head,
  what?: string,
  onHead?: (head: Head) => void,
): AsyncGenerator<Segment> {
  const progress = what === undefined ? undefined : startProgress(`${what} ${head.name}`, head.live)
  let items = 0
  let segments = 0
  try {
    for await (const segment of side.store.items(head.name, onHead)) {
      yield segment
      items += segment.count
      progress?.update(items, items)
      if (++segments % SEGMENTS_PER_TURN !== 0) continue
      await sleep(0)
      signal.throwIfAborted()
    }
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') throw damaged(side.location, head.name, error)
    throw error
  } finally {
    progress?.stop()
  }
}

/** A run that was killed a moment ago keeps its place for 10 seconds. */
const WAIT_MS = 12_000
const PAUSE_MS = 250

async function whenFree<T>({ signal }: CopyJob, begin: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + WAIT_MS; ; ) {
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'busy' || performance.now() > deadline) throw error
      await sleep(PAUSE_MS)
      signal.throwIfAborted()
    }
  }
}

/** A message about a store alone would not tell which collection it was. */
function nameFailure(error: unknown, name: string): unknown {
  if (!(error instanceof StoreError)) return error
  const { exitStatus, message } = describeFailure(error)
  return new Failure(exitStatus, `${name}: ${message}`, { cause: error })
}

function damaged(location: DataLocation, name: string, error: Error): Failure {
  return new Failure(
    3,
    `${name}: the store ${location} is damaged, so it was not copied. ${error.message} \`reams verify --store ${location.word}\` has details; restore the store from a backup.`,
    { cause: error },
  )
}

function differing(location: DataLocation, name: string): Failure {
  return new Failure(
    3,
    `${name}: ${location} does not return what was copied. Check the disk or the database there, remove it with \`reams drop ${name} --store ${location.word}\`, then try again.`,
  )
}
