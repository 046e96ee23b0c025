/** Finds the part of a pull that was stopped, and keeps what must not be overwritten. */

import { stat } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import { formatItems } from '../figures.ts'
import { isRunning } from '../running-process.ts'
import type { FilePullJob, Kept } from './job.ts'
import { differenceOf, type PullNote } from './note.ts'
import { PullNoteFile } from './note-file.ts'
import { notePath, partPath } from './open-part.ts'

/** Undefined where there is nothing to go on with. Throws a Failure where --resume or --force has to decide. */
export async function findPart(job: FilePullJob): Promise<Kept | undefined> {
  const note = await new PullNoteFile(notePath(job.path)).read()
  const known = typeof note === 'object' ? note : undefined
  const partBytes = (await stat(partPath(job.path)).catch(() => undefined))?.size
  refuseRunning(known, job.path)
  // A pull that was stopped before its first note has left nothing.
  const isPart = partBytes !== undefined && (known === undefined || known.walk !== undefined)
  if (!job.isResumed) {
    if (!job.isForced) refuseToOverwrite(job, isPart, known)
    return undefined
  }
  return isPart ? usablePart(job, known, partBytes) : undefined
}

function refuseRunning(note: PullNote | undefined, path: string): void {
  if (note === undefined || note.process.pid === process.pid || !isRunning(note.process)) return
  throw new Failure(3, `Process ${note.process.pid} is pulling to ${path} at the moment. Wait for its end.`)
}

/** Hours of work may be in a part. */
function refuseToOverwrite({ path, isThere }: FilePullJob, isPart: boolean, note: PullNote | undefined): void {
  if (isThere)
    throw new Failure(
      2,
      `${path} is there already. Name another file; or add --resume to fetch what it lacks, or --force to overwrite it.`,
    )
  if (!isPart) return
  const what = note?.walk === undefined ? UNKNOWN : `with ${formatItems(note.walk.items)} of a pull that was stopped`
  throw new Failure(2, `${partPath(path)} is there, ${what}. Add --resume to go on with it, or --force to begin again.`)
}

function usablePart(job: FilePullJob, note: PullNote | undefined, partBytes: number): Kept | undefined {
  const { subject, path, isForced, report } = job
  const obstacle = note === undefined ? UNKNOWN : differenceOf(note, subject)
  if (obstacle !== undefined && !isForced)
    throw new Failure(
      2,
      `${partPath(path)} is there, ${obstacle}. Pull to another file, or add --force to begin again.`,
    )
  if (note === undefined || obstacle !== undefined) return undefined
  if (note.bytes <= partBytes) return note
  report.note(
    `${partPath(path)} has ${partBytes} bytes, and should have ${note.bytes} at least: it is damaged, and the pull begins again.`,
  )
  return undefined
}

const UNKNOWN = 'and no note beside it says how far a pull has come'
