/** A pull into a file, which gets its name when it is complete. */

import { rename, rm } from 'node:fs/promises'
import { CollectionChanged } from '../../client/index.ts'
import { syncDirectoryOf } from '../durable-file.ts'
import { Failure } from '../failure.ts'
import { formatCount } from '../figures.ts'
import { PartFile } from '../part-file.ts'
import { assertComplete } from './complete.ts'
import { converted } from './convert.ts'
import { UnknownField } from './csv.ts'
import { type CompleteFile, extendFinished } from './extend.ts'
import { findPart } from './find-part.ts'
import type { PullForm } from './form.ts'
import { type BegunPull, type FilePullJob, nothingKept, type PullOutcome } from './job.ts'
import { openPart, partPath } from './open-part.ts'
import type { PullPart } from './part.ts'
import { PullStopped } from './stopped.ts'

export async function pullToFile(job: FilePullJob): Promise<PullOutcome> {
  const begun = await begin(job)
  if ('items' in begun)
    return { items: begun.items, itemsBefore: begun.items, bytes: 0, result: undefined, unusedColumns: [] }
  try {
    return await pullInto(begun, job)
  } catch (error) {
    if (!(error instanceof UnknownField)) throw error
    job.report.note(
      `items have a field "${error.field}" by now, for which ${job.path} has no column; all is pulled again.`,
    )
    return pullInto(await openPart(job, nothingKept(job.subject)), job)
  }
}

async function begin(job: FilePullJob): Promise<BegunPull | CompleteFile> {
  const kept = await findPart(job)
  if (kept !== undefined) return openPart(job, kept)
  return job.isResumed && job.isThere ? extendFinished(job) : openPart(job, nothingKept(job.subject))
}

async function pullInto(begun: BegunPull, job: FilePullJob): Promise<PullOutcome> {
  const { part } = begun
  try {
    return await pullWhole(begun, job)
  } catch (error) {
    const isUseless = error instanceof CollectionChanged || error instanceof UnknownField || isAnswer(error)
    if (isUseless) await part.remove()
    else await part.stop()
    if (error instanceof UnknownField) throw error
    throw new PullStopped(error, isUseless ? '' : standingOf(part, job))
  }
}

async function pullWhole({ part, content }: BegunPull, job: FilePullJob): Promise<PullOutcome> {
  const { collection, signal, report, path } = job
  const itemsBefore = part.items
  const onProgress = report.follow(itemsBefore, () => part.bytes)
  const result = await collection.pull(part, { signal, from: part.walk, onProgress })
  assertComplete(part.items, result)
  if (content.finalForm === undefined) await part.complete(path)
  else await completeDraft(part, content.finalForm(), job)
  return {
    items: part.items,
    itemsBefore: result.restarts === 0 ? itemsBefore : 0,
    bytes: part.bytes,
    result,
    unusedColumns: content.unusedColumns(),
  }
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
  const file = await PartFile.open(`${part.path}.${subject.format}`, 0, subject.isPacked)
  try {
    for await (const text of converted(part.path, part.items, form, { signal, onItems })) await file.write(text)
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
