/** A pull to standard output, a pipe or a device: what was written there cannot be taken back. */

import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import type { Page, Sink, Step } from '../../client/index.ts'
import { Failure } from '../failure.ts'
import type { PullForm } from './form.ts'

/** Takes bytes, and resolves when more can come. */
export interface ByteStream extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>
}

/** Standard output, unless there is a path. */
export async function openStream(path: string | undefined): Promise<ByteStream> {
  if (path === undefined) return { write: writeToStdout, [Symbol.asyncDispose]: async () => {} }
  const handle = await open(path, 'w')
  return { write: (bytes) => writeAll(handle, bytes), [Symbol.asyncDispose]: () => handle.close() }
}

function writeToStdout(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await handle.write(bytes, done)).bytesWritten
}

export class StreamSink implements Sink {
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

  async end(): Promise<void> {
    const text = this.#form.end(this.items)
    if (text.length > 0) await this.#stream.write(text)
  }
}
