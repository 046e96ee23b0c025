/** Opens the part of a pull, and leaves a note that it is being written to. */

import { chmod, stat } from 'node:fs/promises'
import { removeFile, syncDirectoryOf } from '../durable-file.ts'
import { Failure, isSystemError } from '../failure.ts'
import { takeLock } from '../file-lock.ts'
import { PartFile } from '../part-file.ts'
import { contentOf } from './content.ts'
import { OtherColumns } from './csv.ts'
import type { BegunPull, FilePullJob } from './job.ts'
import { type Kept, writeNote } from './note.ts'
import { PullPart } from './part.ts'

const ANOTHER = 'the collection is not the same any more'

export function partPath(path: string): string {
  return `${path}.part`
}

export function notePath(path: string): string {
  return `${partPath(path)}.json`
}

/** Lets one pull at a time write to a file. Undefined where no lock can be made: there, no part can either. */
export function lockPart(path: string): Disposable | undefined {
  const lockPath = `${partPath(path)}.lock`
  try {
    const lock = takeLock(lockPath)
    if (lock !== undefined) return lock
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
  throw new Failure(3, `Another pull to ${path} is under way. Wait for its end. If there is none, delete ${lockPath}.`)
}

/** Removes what holds nothing of use. Where it cannot be removed it does no harm. */
export async function removeLeftovers(path: string): Promise<void> {
  for (const leftover of [partPath(path), notePath(path)]) await removeFile(leftover).catch(() => {})
}

export async function openPart(job: FilePullJob, kept: Kept): Promise<BegunPull> {
  const { subject, path, report } = job
  const note = { ...subject, ...kept }
  const content = contentOf(note)
  const onRestart = () => {
    // The columns of a finished file are those of the items that it had.
    if (!kept.isDraft && kept.fields.length > 0) throw new OtherColumns(ANOTHER)
    report.note(`${ANOTHER}; it is pulled again from its beginning.`)
  }
  try {
    await writeNote(notePath(path), note)
    const file = await openInstead(job, partPath(path), kept.bytes, subject.isPacked && !kept.isDraft)
    await syncDirectoryOf(path)
    const { form, fields } = content
    return { content, part: new PullPart({ file, form, fields, notePath: notePath(path), note, onRestart }) }
  } catch (error) {
    if (kept.walk === undefined) await removeLeftovers(path)
    throw explain(error, path)
  }
}

/** Opens a file that will take the place of the one that is there: who may read that may read this, and nobody else. */
export async function openInstead(
  { path, isThere }: Pick<FilePullJob, 'path' | 'isThere'>,
  newPath: string,
  keptBytes: number,
  isPacked: boolean,
): Promise<PartFile> {
  const file = await PartFile.open(newPath, keptBytes, isPacked)
  if (isThere) await chmod(newPath, (await stat(path)).mode & 0o777)
  return file
}

function explain(error: unknown, path: string): unknown {
  const reason = isSystemError(error) ? REASONS[error.code] : undefined
  return reason === undefined ? error : new Failure(2, `${path} cannot be written: ${reason}.`, { cause: error })
}

const NO_PERMISSION = 'no permission to write into its directory'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'what should be its directory is a file',
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the name is too long',
  EISDIR: 'what should be its part is a directory',
}
