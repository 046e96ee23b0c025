/** A pull to standard output, a pipe or a device. */

import { join } from 'node:path'
import type { Page, Sink, Step } from '../../client/index.ts'
import { Failure } from '../failure.ts'
import { PartFile } from '../part-file.ts'
import { TemporaryDirectory } from '../temporary-directory.ts'
import { contentOf, converted, type PullContent } from './content.ts'
import type { PullForm } from './form.ts'
import { type PullJob, type PullOutcome, provenOutcome } from './job.ts'
import { nothingKept } from './note.ts'
import type { PullOutput } from './output.ts'
import { PullPart } from './part.ts'
import { type ByteStream, openStream } from './stream.ts'

export async function pullToStream(job: PullJob, output: PullOutput): Promise<PullOutcome> {
  await using stream = await openStream(output, job.signal)
  const content = contentOf({ ...job.subject, ...nothingKept(job.subject) })
  return content.finalForm === undefined
    ? await pullDirectly(job, content, stream)
    : await pullByDraft(job, content, content.finalForm, stream)
}

async function pullDirectly(
  { collection, signal, report }: PullJob,
  content: PullContent,
  stream: ByteStream,
): Promise<PullOutcome> {
  const sink = new StreamSink(stream, content.form)
  const onProgress = report.follow(0, () => sink.bytes)
  const result = await collection.pull(sink, { signal, onProgress })
  const outcome = provenOutcome(sink, result, content)
  await stream.write(content.form.end(sink.items))
  return outcome
}

/** Nothing can be written before all fields are known: until then the items are in a temporary file. */
async function pullByDraft(
  { subject, collection, signal, report }: PullJob,
  content: PullContent,
  finalForm: () => PullForm,
  stream: ByteStream,
): Promise<PullOutcome> {
  using directory = new TemporaryDirectory()
  const file = await PartFile.open(join(directory.path, 'draft.ndjson'), 0, false)
  const note = { ...subject, ...nothingKept(subject) }
  const onRestart = () => report.note('the collection changed; it is pulled again from its beginning.')
  const part = new PullPart({ ...content, file, notePath: undefined, note, onRestart })
  try {
    const onProgress = report.follow(0, () => part.bytes)
    const result = await collection.pull(part, { signal, onProgress })
    const outcome = provenOutcome(part, result, content)
    await part.save()
    const onItems = report.followConversion(part.items)
    for await (const text of converted(part.path, part.items, finalForm(), { signal, onItems }))
      await stream.write(text)
    return outcome
  } finally {
    await file.close()
  }
}

class StreamSink implements Sink {
  readonly #stream: ByteStream
  readonly #form: PullForm
  items = 0
  /** Of items. */
  bytes = 0

  constructor(stream: ByteStream, form: PullForm) {
    this.#stream = stream
    this.#form = form
  }

  async page(page: Page, { first }: Step<unknown>): Promise<void> {
    const lines = page.ndjson(first)
    const text = this.#form.render(lines, this.items)
    this.items += page.length - first
    this.bytes += lines.length
    if (text.length > 0) await this.#stream.write(text)
  }

  async restart(): Promise<void> {
    if (this.items === 0) return
    throw new Failure(
      1,
      'The collection changed while it was read, so that items may be missing or twice in what was written, which cannot be taken back. Pull it into a file, which begins again by itself: -o FILE',
    )
  }
}
