/** A pull into a file, which gets its name when it is complete. */

import { rename, rm } from 'node:fs/promises'
import { CollectionChanged } from '../../client/index.ts'
import { syncDirectoryOf } from '../durable-file.ts'
import { Failure } from '../failure.ts'
import { formatCount } from '../figures.ts'
import { converted } from './content.ts'
import { OtherColumns } from './csv.ts'
import { type CompleteFile, extendFinished } from './extend.ts'
import { PullStopped } from './failure.ts'
import { findPart } from './find-part.ts'
import type { PullForm } from './form.ts'
import { type BegunPull, type FilePullJob, type PullOutcome, provenOutcome } from './job.ts'
import { nothingKept } from './note.ts'
import { lockPart, openInstead, openPart, partPath, removeLeftovers } from './open-part.ts'
import type { PullPart } from './part.ts'

export async function pullToFile(job: FilePullJob): Promise<PullOutcome> {
  using _lock = lockPart(job.path)
  const begun = await begin(job)
  if ('items' in begun) return alreadyComplete(begun, job)
  try {
    return await pullInto(begun, job)
  } catch (error) {
    if (!(error instanceof OtherColumns)) throw error
    job.report.note(`${error.message}; all is pulled again.`)
    return await pullInto(await openPart(job, nothingKept(job.subject)), job)
  }
}

async function begin(job: FilePullJob): Promise<BegunPull | CompleteFile> {
  const kept = await findPart(job)
  if (kept !== undefined) return openPart(job, kept)
  return job.isResumed && job.isThere ? extendFinished(job) : openPart(job, nothingKept(job.subject))
}

async function alreadyComplete({ items }: CompleteFile, { path }: FilePullJob): Promise<PullOutcome> {
  // Of a pull that was killed when it had just ended, or hardly begun.
  await removeLeftovers(path)
  return { items, itemsBefore: items, bytes: 0, result: undefined, unusedColumns: [] }
}

async function pullInto(begun: BegunPull, job: FilePullJob): Promise<PullOutcome> {
  const { part } = begun
  try {
    return await pullWhole(begun, job)
  } catch (error) {
    const isUseless = error instanceof CollectionChanged || error instanceof OtherColumns || isAnswer(error)
    if (isUseless) await part.remove()
    else await part.stop()
    if (error instanceof OtherColumns) throw error
    throw new PullStopped(error, isUseless ? '' : standingOf(part, job))
  }
}

async function pullWhole({ part, content }: BegunPull, job: FilePullJob): Promise<PullOutcome> {
  const { collection, signal, report, path } = job
  const itemsBefore = part.items
  const onProgress = report.follow(itemsBefore, () => part.bytes)
  const result = await collection.pull(part, { signal, from: part.walk, onProgress })
  const outcome = provenOutcome(part, result, content, itemsBefore)
  if (content.finalForm === undefined) await part.complete(path)
  else await completeDraft(part, content.finalForm(), job)
  return outcome
}

/** The answer is no, and would be the next time. */
function isAnswer(error: unknown): boolean {
  return error instanceof Failure && error.exitStatus === 1
}

function standingOf({ certainItems, walk }: PullPart, { path }: FilePullJob): string {
  if (certainItems === 0) return ''
  const total = walk === undefined ? '' : ` of ${formatCount(walk.itemCount)}`
  return `${formatCount(certainItems)}${total} items are in ${partPath(path)}; add --resume to go on from there.`
}

/** Needs room for both: the draft goes when the file is there. */
async function completeDraft(part: PullPart, form: PullForm, job: FilePullJob): Promise<void> {
  const { path, subject, signal, report } = job
  await part.save()
  const onItems = report.followConversion(part.items)
  const file = await openInstead(job, `${part.path}.${subject.format}`, 0, subject.isPacked)
  try {
    for await (const text of converted(part.path, part.items, form, { signal, onItems })) await file.give(text)
    await file.finish()
    await rename(file.path, path)
  } catch (error) {
    await file.close()
    await rm(file.path, { force: true })
    throw error
  }
  await syncDirectoryOf(path)
  await part.remove()
}
