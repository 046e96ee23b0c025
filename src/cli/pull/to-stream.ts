/** A pull to standard output, a pipe or a device. */

import type { Page, Sink, Step } from '../../client/index.ts'
import { Failure } from '../failure.ts'
import { type ByteStream, type OutputTarget, openStream } from '../files/output-target.ts'
import { createFormat, type PullFormat } from './format.ts'
import { type PullJob, type PullOutcome, provenOutcome } from './report.ts'

export async function pullToStream(job: PullJob, target: OutputTarget): Promise<PullOutcome> {
  const { subject, collection, signal, report } = job
  await using stream = await openStream(target, signal)
  const sink = new StreamSink(stream, createFormat(subject))
  const onProgress = report.follow(0, () => sink.bytes)
  const result = await collection.pull(sink, { signal, onProgress })
  const outcome = provenOutcome(sink, result)
  await stream.write(sink.format.end(sink.items))
  return outcome
}

class StreamSink implements Sink {
  readonly #stream: ByteStream
  readonly format: PullFormat
  items = 0
  /** Of items. */
  bytes = 0

  constructor(stream: ByteStream, format: PullFormat) {
    this.#stream = stream
    this.format = format
  }

  async page(page: Page, { first }: Step<unknown>): Promise<void> {
    const lines = page.ndjson(first)
    const text = this.format.render(lines, this.items)
    this.items += page.length - first
    this.bytes += lines.length
    if (text.length > 0) await this.#stream.write(text)
  }

  async restart(): Promise<void> {
    if (this.items === 0) return
    throw new Failure(
      1,
      'The collection changed while it was read, so items may be missing or duplicated in the output. Pull it into a file instead, which starts over by itself: -o FILE',
    )
  }
}
