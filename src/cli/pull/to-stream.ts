/** A pull to standard output, a pipe or a device. */

import { join } from 'node:path'
import { PartFile } from '../part-file.ts'
import { thisProcess } from '../running-process.ts'
import { TemporaryDirectory } from '../temporary-directory.ts'
import { assertComplete } from './complete.ts'
import { contentOf, type PullContent } from './content.ts'
import { converted } from './convert.ts'
import { nothingKept, type PullJob, type PullOutcome } from './job.ts'
import { PullPart } from './part.ts'
import { type ByteStream, openStream, StreamSink } from './stream.ts'

/** `path` is that of the pipe or device; undefined: standard output. */
export async function pullToStream(job: PullJob, path: string | undefined): Promise<PullOutcome> {
  await using stream = await openStream(path)
  const kept = nothingKept(job.subject)
  if (kept.isDraft) return await pullByDraft(job, stream)
  return await pullDirectly(job, contentOf({ ...job.subject, ...kept }), stream)
}

async function pullDirectly(
  { collection, signal, report }: PullJob,
  { form, unusedColumns }: PullContent,
  stream: ByteStream,
): Promise<PullOutcome> {
  const sink = new StreamSink(stream, form)
  const onProgress = report.follow(0, () => sink.bytes)
  const result = await collection.pull(sink, { signal, onProgress })
  assertComplete(sink.items, result)
  await sink.end()
  return { items: sink.items, itemsBefore: 0, bytes: sink.bytes, result, unusedColumns: unusedColumns() }
}

/** Nothing can be written before all fields are known: until then the items are in a temporary file. */
async function pullByDraft({ subject, collection, signal, report }: PullJob, stream: ByteStream): Promise<PullOutcome> {
  using directory = new TemporaryDirectory()
  const file = await PartFile.open(join(directory.path, 'draft.ndjson'), 0, false)
  const note = { ...subject, ...nothingKept(subject), id: '', process: thisProcess() }
  const { form, finalForm = () => form, fields } = contentOf(note)
  const onRestart = () => report.note('the collection changed; it is pulled again from its beginning.')
  const part = new PullPart({ file, form, fields, noteFile: undefined, note, onRestart })
  try {
    const onProgress = report.follow(0, () => part.bytes)
    const result = await collection.pull(part, { signal, onProgress })
    assertComplete(part.items, result)
    await part.save()
    const onItems = report.followConversion(part.items)
    for await (const text of converted(part.path, part.items, finalForm(), { signal, onItems }))
      await stream.write(text)
    return { items: part.items, itemsBefore: 0, bytes: part.bytes, result, unusedColumns: [] }
  } finally {
    await file.close()
  }
}
