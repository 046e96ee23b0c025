/** A pull into a file, which gets its name when it is complete. */

import { existsSync } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { CollectionChanged, HttpError } from '../../../client/index.ts'
import { counted, formatCount } from '../../../contract/message-text.ts'
import { Failure, isSystemError } from '../../failure.ts'
import { takeLock } from '../../files/file-lock.ts'
import {
  NOTHING_YET,
  type Progressed,
  type PullNote,
  PullPart,
  type PullSubject,
  partPath,
  readNote,
  removeLeftovers,
} from './part.ts'
import { type PullJob, type PullOutcome, provenOutcome } from './report.ts'

interface FilePullJob extends PullJob {
  readonly path: string
  readonly isResumed: boolean
  readonly isForced: boolean
}

/** The end of a pull before its time. */
export class PullStopped extends Error {
  override readonly name = 'PullStopped'
  /** Says what is kept, and how to resume; empty if there is nothing to say. */
  readonly kept: string

  constructor(cause: unknown, kept: string) {
    super('the pull was stopped', { cause })
    this.kept = kept
  }
}

export async function pullToFile(job: FilePullJob): Promise<PullOutcome> {
  const { subject, path, collection, signal, report, isLive } = job
  using _lock = lockPart(path)
  const onRestart = () => report.note('the collection changed; it is pulled again from its beginning.')
  const part = await PullPart.open(path, { ...subject, ...(await findKept(job)) }, onRestart)
  const itemsBefore = part.items
  try {
    const onProgress = report.follow(itemsBefore, () => part.bytes)
    const result = await collection.pull(part, { signal, live: isLive, from: part.walk, onProgress })
    const outcome = provenOutcome(part, result, itemsBefore)
    await part.complete()
    return outcome
  } catch (error) {
    // If the next attempt would fail in the same way, nothing is worth keeping.
    const isGone = error instanceof HttpError && error.status === 410
    const isUseless =
      isGone || error instanceof CollectionChanged || (error instanceof Failure && error.exitStatus === 1)
    if (isUseless) await part.remove()
    else await part.stop()
    throw new PullStopped(error, isUseless ? '' : whatIsKept(part, path))
  }
}

/** Lets one pull at a time write to a file. Undefined where no lock can be made: there, no part can either. */
function lockPart(path: string): Disposable | undefined {
  try {
    const lock = takeLock(`${partPath(path)}.lock`)
    if (lock !== undefined) return lock
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
  throw new Failure(3, `Another pull to ${path} is running. Wait until it has ended.`)
}

/** What a pull that was stopped has left and this one resumes. Throws a Failure where --resume or --force has to decide. */
async function findKept(job: FilePullJob): Promise<Progressed> {
  const { subject, path, isResumed, isForced, isLive, report } = job
  const note = await readNote(path)
  const isFollowed = isComplete(job, note)
  if (isFollowed && isResumed) await copyFile(path, partPath(path))
  const part = await stat(partPath(path)).catch(() => undefined)
  // Without a part the note is a leftover, and a pull that was stopped before its first note has left nothing.
  const isPart = part !== undefined && (note === undefined || note.walk !== undefined)
  if (part === undefined && !note?.isChanges) await removeLeftovers(path)
  if (!isPart || !isResumed) {
    if (isForced) return NOTHING_YET
    if (existsSync(path)) throw new Failure(2, alreadyThere(path, isFollowed ? FETCH : isPart ? RESUME : ''))
    if (isPart && note?.walk === undefined) throw otherPart(path, UNKNOWN)
    if (isPart) throw new Failure(2, stopped(path, note?.walk?.items ?? 0))
    return NOTHING_YET
  }
  const obstacle =
    note === undefined
      ? UNKNOWN
      : (differenceOf(note, subject) ?? (isLive && isInSnapshot(note) ? SNAPSHOT : undefined))
  if (obstacle !== undefined && !isForced) throw otherPart(path, obstacle)
  if (note === undefined || obstacle !== undefined) return NOTHING_YET
  const { bytes, walk, foundColumns } = note
  if (bytes <= part.size) return { bytes, walk, foundColumns }
  const sizes = `has ${part.size} bytes, and should have at least ${bytes}`
  report.note(`${partPath(path)} ${sizes}: it is damaged, so the pull starts over.`)
  return NOTHING_YET
}

/** Whether the file has all changes, as of then. */
function isComplete({ subject, path }: FilePullJob, note: PullNote | undefined): boolean {
  if (!note?.isChanges || note.walk === undefined || differenceOf(note, subject) !== undefined) return false
  return existsSync(path) && !existsSync(partPath(path))
}

/** What is not the same in both, in words; undefined if nothing. */
function differenceOf(noted: PullSubject, now: PullSubject): string | undefined {
  if (noted.url !== now.url) return `of ${noted.url}`
  if (noted.format !== now.format || noted.isPacked !== now.isPacked)
    return `${noted.format}${noted.isPacked ? ' in gzip' : ''}`
  if (String(noted.columns) === String(now.columns)) return undefined
  return noted.columns === undefined ? 'with all columns' : `with --columns ${noted.columns.join(',')}`
}

/** Whether the rest of it is read from a snapshot. */
function isInSnapshot({ walk }: PullNote): boolean {
  return walk?.snapshot !== undefined && walk.items < walk.itemCount
}

const UNKNOWN = 'but its progress file is missing or unreadable'
const SNAPSHOT = 'with part of a snapshot: leave out --no-snapshot to resume it'

function otherPart(path: string, what: string): Failure {
  return new Failure(2, `${partPath(path)} exists, ${what}. Pull to another file, or add --force to start over.`)
}

function stopped(path: string, items: number): string {
  return `${partPath(path)} exists, with ${counted(items, 'item')} of an interrupted pull. Add --resume to resume it, or --force to start over.`
}

const RESUME = '--resume to resume the interrupted pull, or '
const FETCH = '--resume to fetch what is new, or '

function alreadyThere(path: string, resume: string): string {
  return `${path} already exists. Name another file, or add ${resume}--force to overwrite it.`
}

function whatIsKept({ certainItems, walk }: PullPart, path: string): string {
  if (certainItems === 0) return ''
  const total = walk === undefined ? '' : ` of ${formatCount(walk.itemCount)}`
  return `${formatCount(certainItems)}${total} items are in ${partPath(path)}; add --resume to continue from there.`
}
