/** The body of an answer, up to a limit of bytes. */

import { onAbort } from './deadline.ts'

/** Ends with undefined, and reads no further, as soon as there is more than `limit`. */
export async function readBody(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const cancel = () => void reader.cancel().catch(() => {})
  // A body that came without a socket does not know of the signal.
  const unlink = onAbort(signal, cancel)
  const chunks: Uint8Array[] = []
  let length = 0
  // No more than this is made of that length: it is of the packed answer, and a browser may hide that there was one.
  let isWithin = !(Number(response.headers.get('content-length')) > limit)
  try {
    while (isWithin) {
      const { value, done } = await reader.read()
      if (done) break
      chunks.push(value)
      length += value.length
      isWithin = length <= limit
    }
  } finally {
    unlink()
  }
  if (isWithin) return joined(chunks, length)
  cancel()
  return undefined
}

/** Reads nothing of it, so that its connection becomes free. */
export function discardBody({ body }: Response): void {
  body?.cancel().catch(() => {})
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
