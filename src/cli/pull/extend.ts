/** Goes on behind a file that an earlier pull has finished, with what was appended to the collection since. */

import { anchorAt } from '../../client/anchor.ts'
import type { Page, WalkState } from '../../client/index.ts'
import { lastPage } from '../../contract/page.ts'
import { InputError } from '../../items/input-error.ts'
import { Failure, isSystemError } from '../failure.ts'
import { formatItems } from '../figures.ts'
import { contentOf } from './content.ts'
import { type FinishedFile, readFinished, unpacked } from './finished.ts'
import type { BegunPull, FilePullJob } from './job.ts'
import { nothingKept } from './note.ts'
import { openPart } from './open-part.ts'
import { isStillBeginning } from './overlap.ts'

/** A pull that has nothing to do: the file has all of these items. */
export interface CompleteFile {
  readonly items: number
}

/** One request tells whether there is anything to do. Throws a Failure for a file that cannot be gone on with. */
export async function extendFinished(job: FilePullJob): Promise<BegunPull | CompleteFile> {
  const { subject, path, collection, signal } = job
  const file = await readFinished(path, subject.format, signal).catch((error) => notReadable(error, path))
  if (file === undefined) return anew(job, `is not ${subject.format} as a pull writes it`)
  if (!hasColumns(file, job)) return anew(job, `has other columns: ${file.columns.join(',')}`)
  if (file.items === 0) return openPart(job, nothingKept(subject))
  const kept = { ...nothingKept(subject), isDraft: false, fields: file.columns }
  const page = await collection.page(lastPage(file.items), { signal })
  if (page.itemCount < file.items)
    return anew(job, `has ${formatItems(file.items)}, and the collection ${formatItems(page.itemCount)}`)
  if (!(await isStillBeginning(file, page, contentOf({ ...subject, ...kept }).form, job)))
    return anew(job, 'does not end with the items that the collection has in these places now')
  if (page.itemCount === file.items) return { items: file.items }
  return takeOver(file, stateBehind(file, page), await openPart(job, kept), job)
}

async function takeOver(
  file: FinishedFile,
  walk: WalkState,
  begun: BegunPull,
  { path, signal }: FilePullJob,
): Promise<BegunPull> {
  try {
    await begun.part.adopt(contentOfFile(path, file, signal), walk)
    return begun
  } catch (error) {
    await begun.part.remove()
    throw error
  }
}

/** With --force the file may go; without, nothing is lost. */
async function anew(job: FilePullJob, why: string): Promise<BegunPull> {
  const { subject, path, isForced, report } = job
  if (!isForced) throw new Failure(1, `${path} ${why}. It cannot be gone on with; add --force to pull all of it again.`)
  report.note(`${path} ${why}; it is pulled again from its beginning.`)
  return openPart(job, nothingKept(subject))
}

function hasColumns({ columns }: FinishedFile, { subject }: FilePullJob): boolean {
  return subject.columns === undefined || String(subject.columns) === String(columns)
}

/** As a walk that has just handed over the items of the file. */
function stateBehind({ items }: FinishedFile, page: Page): WalkState {
  return { items, itemCount: page.itemCount, anchor: anchorAt(page) }
}

async function* contentOfFile(
  path: string,
  { contentBytes }: FinishedFile,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let left = contentBytes
  for await (const chunk of unpacked(path, signal)) {
    if (left > 0) yield chunk.subarray(0, left)
    left -= chunk.length
  }
}

/** Damaged gzip is not what a pull writes. */
function notReadable(error: unknown, path: string): undefined {
  if (error instanceof InputError) return undefined
  if (!isSystemError(error)) throw error
  const reason = error.code === 'EACCES' ? 'no permission' : error.message
  throw new Failure(3, `${path} cannot be read: ${reason}.`, { cause: error })
}
