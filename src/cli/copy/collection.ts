/** Copies one collection: sends it, reads it back, compares, and only then lets it be seen. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Copy } from '../../store/copy.ts'
import type { Head } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import type { StoredRows } from '../../store/stored-collection.ts'
import { Failure } from '../failure.ts'
import { startProgress } from '../progress.ts'
import { type Content, Damage, readContent } from './content.ts'
import type { CopyJob, Side } from './job.ts'
import type { Receiver } from './sender.ts'

export interface Copied {
  readonly head: Head
  readonly content: Content
  /** Reams that an earlier run had brought. */
  readonly keptReams: number
}

export function copyCollection(job: CopyJob, name: string): Promise<Copied> {
  return job.from.store.stored(name, async (source) => {
    const copy = await beginWhenFree(job, source.head)
    try {
      const content = await readSide(job, job.from, source, source.head, 'copying', copy)
      const arrived = await copy.read((rows) => readSide(job, job.to, rows, source.head, 'checking'))
      checkSame(job.to, name, content, arrived)
      return { head: await copy.commit(), content, keptReams: copy.kept.reams }
    } catch (error) {
      // Whatever is wrong with the items themselves is so the next time too; after anything else the next run goes on.
      await (error instanceof Failure ? copy.abort() : copy.leave()).catch(() => {})
      throw error
    }
  })
}

/** Whether the collection lies at the target as it lies here. */
export async function isThere(job: CopyJob, origin: Head, target: Head): Promise<Content | undefined> {
  const isAlike = origin.next === target.next && origin.live === target.live
  if (!isAlike || differencesOf(origin, target).length > 0) return undefined
  // Both at once, and one bar for both: they have the same to do.
  const [here, there] = await Promise.all(
    [job.from, job.to].map((side) => {
      const what = side === job.from ? 'comparing' : undefined
      return side.store.stored(origin.name, (stored) => readSide(job, side, stored, stored.head, what))
    }),
  )
  return here !== undefined && here.sha256 === there?.sha256 && here.layout === there.layout ? here : undefined
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

/** A run that was killed a moment ago keeps its place for 10 seconds. */
const WAIT_MS = 12_000
const PAUSE_MS = 250

async function beginWhenFree({ to, isReplacement, signal }: CopyJob, origin: Head): Promise<Copy> {
  for (const deadline = performance.now() + WAIT_MS; ; ) {
    try {
      return await to.store.copy(origin, { isReplacement })
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'busy' || performance.now() > deadline) throw error
      await sleep(PAUSE_MS)
      signal.throwIfAborted()
    }
  }
}

async function readSide(
  { signal }: CopyJob,
  side: Side,
  rows: StoredRows,
  head: Head,
  what: string | undefined,
  receiver?: Receiver,
): Promise<Content> {
  const total = head.live * (head.keyField === null ? 1 : 2)
  const progress = what === undefined ? undefined : startProgress(`${what} ${head.name}`, total)
  let done = 0
  let items = 0
  const onProgress = (moreItems: number, moreKeys: number): void => {
    items += moreItems
    done += moreItems + moreKeys
    progress?.update(done, items)
  }
  try {
    return await readContent(rows, head, { signal, onProgress, ...(receiver !== undefined && { receiver }) })
  } catch (error) {
    if (error instanceof Damage) throw damaged(side, head.name, error)
    if (error instanceof StoreError && error.code === 'corrupt') throw unreadable(side, head.name, error)
    throw error
  } finally {
    progress?.stop()
  }
}

function damaged({ location }: Side, name: string, error: Damage): Failure {
  return new Failure(
    3,
    `${name}: the store ${location} is damaged. ${error.message} It was not copied. \`reams verify --store ${location.word}\` tells more; restore the store from a backup.`,
    { cause: error },
  )
}

function unreadable({ location }: Side, name: string, error: StoreError): Failure {
  return new Failure(3, `${name}: the store ${location} is damaged. It was not copied. ${error.message}`, {
    cause: error,
  })
}

function checkSame({ location }: Side, name: string, sent: Content, arrived: Content): void {
  if (sent.sha256 === arrived.sha256 && sent.layout === arrived.layout) return
  throw new Failure(
    3,
    `${name}: ${location} does not give back what was sent: SHA-256 ${arrived.sha256} instead of ${sent.sha256}, or other keys and positions. What was sent is removed again. Look after the disk or the database there, then try again.`,
  )
}
