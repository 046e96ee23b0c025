/** Opens the part of a pull, and leaves a note that it is being written to. */

import { randomUUID } from 'node:crypto'
import { syncDirectoryOf } from '../durable-file.ts'
import { Failure, isSystemError } from '../failure.ts'
import { PartFile } from '../part-file.ts'
import { thisProcess } from '../running-process.ts'
import { contentOf } from './content.ts'
import type { BegunPull, FilePullJob, Kept } from './job.ts'
import { PullNoteFile } from './note-file.ts'
import { PullPart } from './part.ts'

export function partPath(path: string): string {
  return `${path}.part`
}

export function notePath(path: string): string {
  return `${partPath(path)}.json`
}

export async function openPart({ subject, path, report }: FilePullJob, kept: Kept): Promise<BegunPull> {
  const noteFile = new PullNoteFile(notePath(path))
  const content = contentOf({ ...subject, ...kept })
  const { bytes, walk, isDraft, fields } = kept
  const note = { ...subject, id: randomUUID(), process: thisProcess(), bytes, walk, isDraft, fields }
  const onRestart = () => report.note('the collection is not the same any more; it is pulled again from its beginning.')
  try {
    await noteFile.begin(note)
    const file = await PartFile.open(partPath(path), bytes, subject.isPacked && !isDraft)
    await syncDirectoryOf(path)
    const part = new PullPart({ file, form: content.form, fields: content.fields, noteFile, note, onRestart })
    return { content, part }
  } catch (error) {
    throw explain(error, path)
  }
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
}
