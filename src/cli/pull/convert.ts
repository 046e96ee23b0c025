/** Makes the final file out of a part that holds NDJSON, a piece at a time. */

import { createReadStream } from 'node:fs'
import { countLines, type PullForm } from './form.ts'

const CHUNK_BYTES = 1024 * 1024
const LINE_FEED = 0x0a

/** All of the file, as the form has it. `path` holds whole lines, and as many as there are items. */
export async function* converted(
  path: string,
  items: number,
  form: PullForm,
  { signal, onItems }: { readonly signal: AbortSignal; readonly onItems: (done: number) => void },
): AsyncGenerator<Uint8Array, void> {
  let before = 0
  for await (const lines of wholeLines(createReadStream(path, { highWaterMark: CHUNK_BYTES, signal }))) {
    yield form.render(lines, before)
    before += countLines(lines)
    onItems(before)
  }
  yield form.end(items)
}

async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array, void> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      yield Buffer.concat([...rest, chunk.subarray(0, end)])
      rest = []
    }
    if (end < chunk.length) rest.push(chunk.subarray(end))
  }
}
