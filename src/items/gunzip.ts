/** Unpacks gzip, recognised by its first two bytes; anything else passes as it is. */

import { Buffer } from 'node:buffer'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { InputError } from './input-error.ts'

/** The bytes of `source`, unpacked if they are gzip, of any number of members. */
export async function* gunzipped(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  try {
    const head = await readHead(chunks, 2)
    const all = joined(head, chunks)
    yield* head[0] === 0x1f && head[1] === 0x8b ? gunzip(all) : all
  } finally {
    await chunks.return?.()
  }
}

/** The first bytes: at least `length`, unless there are fewer. */
export async function readHead(chunks: AsyncIterator<Uint8Array>, length: number): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0)
  while (head.length < length) {
    const next = await chunks.next()
    if (next.done) break
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value])
  }
  return head
}

/** Puts the bytes that `readHead` took back in front of the rest. */
export async function* joined(head: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  if (head.length > 0) yield head
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}

async function* gunzip(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const unpacking = createGunzip({ chunkSize: 1 << 16 })
  const watched = new WatchedEnd(packed)
  // An error of the source arrives through `unpacking` as well.
  pipeline(Readable.from(watched, { objectMode: false }), unpacking, () => {})
  try {
    yield* unpacking
    // Zlib takes zeros after a member for padding, and whatever follows them too. Only zeros may.
    await watched.readToEnd()
    if (watched.lastNonZero > unpacking.bytesWritten) throw new InputError(SOMETHING_FOLLOWS)
  } catch (error) {
    throw isZlibError(error) ? unreadable(error) : error
  }
}

const SOMETHING_FOLLOWS = 'the gzip data is damaged (something follows its zero padding); copy or compress it again'

/** Passes bytes on and remembers after how many of them the last one stood that is not zero. */
class WatchedEnd implements AsyncIterable<Uint8Array> {
  lastNonZero = 0
  #passed = 0
  readonly #chunks: AsyncIterator<Uint8Array>

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** Whoever stops early does not end the source: what is left can still be read. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() }
  }

  async readToEnd(): Promise<void> {
    while (!(await this.#next()).done);
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    const next = await this.#chunks.next()
    if (next.done) return next
    const last = next.value.findLastIndex((byte) => byte !== 0)
    if (last >= 0) this.lastNonZero = this.#passed + last + 1
    this.#passed += next.value.length
    return next
  }
}

function isZlibError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_')
}

function unreadable(error: NodeJS.ErrnoException): InputError {
  const reason =
    error.code === 'Z_BUF_ERROR'
      ? 'the gzip data is truncated; it was not copied or written completely'
      : `the gzip data is damaged (${error.message}); copy or compress it again`
  return new InputError(reason, { cause: error })
}
