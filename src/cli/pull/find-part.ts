/** Finds the part of a pull that was stopped, and keeps what must not be overwritten. */

import { stat } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import { formatItems } from '../figures.ts'
import type { FilePullJob } from './job.ts'
import { differenceOf, type Kept, type PullNote, readNote } from './note.ts'
import { notePath, partPath } from './open-part.ts'

/** Undefined where there is nothing to go on with. Throws a Failure where --resume or --force has to decide. */
export async function findPart(job: FilePullJob): Promise<Kept | undefined> {
  const note = await readNote(notePath(job.path))
  const partBytes = (await stat(partPath(job.path)).catch(() => undefined))?.size
  // A pull that was stopped before its first note has left nothing.
  const isPart = partBytes !== undefined && (note === undefined || note.walk !== undefined)
  if (!job.isResumed) {
    if (!job.isForced) refuseToOverwrite(job, isPart, note)
    return undefined
  }
  return isPart ? usablePart(job, note, partBytes) : undefined
}

/** Hours of work may be in a part. */
function refuseToOverwrite({ path, isThere }: FilePullJob, isPart: boolean, note: PullNote | undefined): void {
  if (isThere)
    throw new Failure(
      2,
      `${path} is there already. Name another file; or add --resume to fetch what it lacks, or --force to overwrite it.`,
    )
  if (!isPart) return
  if (note?.walk === undefined) throw otherPart(path, UNKNOWN)
  const what = `with ${formatItems(note.walk.items)} of a pull that was stopped`
  throw new Failure(2, `${partPath(path)} is there, ${what}. Add --resume to go on with it, or --force to begin again.`)
}

function usablePart(job: FilePullJob, note: PullNote | undefined, partBytes: number): Kept | undefined {
  const { subject, path, isForced, report } = job
  const obstacle = note === undefined ? UNKNOWN : differenceOf(note, subject)
  if (obstacle !== undefined && !isForced) throw otherPart(path, obstacle)
  if (note === undefined || obstacle !== undefined) return undefined
  if (note.bytes <= partBytes) return note
  report.note(
    `${partPath(path)} has ${partBytes} bytes, and should have ${note.bytes} at least: it is damaged, and the pull begins again.`,
  )
  return undefined
}

const UNKNOWN = 'and no note beside it says how far a pull has come'

function otherPart(path: string, what: string): Failure {
  return new Failure(2, `${partPath(path)} is there, ${what}. Pull to another file, or add --force to begin again.`)
}
