/**
 * Raw deflate of many small pieces, each on its own. Node's own functions make a stream for each piece, which costs a fifth of the time. So
 * one stream is used again and again, by the way in which Node does that inside. It is not documented: where it is missing, as on Bun, or not
 * wanted, Node's functions are called (decision 0047).
 */

import { constants, crc32, createDeflateRaw, createInflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'

/** What Node's streams of zlib have inside. */
interface Handle {
  reset(): void
  writeSync(
    flush: number,
    from: Uint8Array,
    fromStart: number,
    fromLength: number,
    to: Uint8Array,
    toStart: number,
    toLength: number,
  ): void
}

interface Stream {
  /** Null after an error. */
  readonly _handle?: Handle | null
  /** How many bytes were left: of the room, and of what was to be read. */
  readonly _writeState?: Uint32Array
  on(event: 'error', listener: () => void): unknown
}

/**
 * Deflates: each piece ends with a full flush, so that it can stand between others. The bytes also depend on the pieces before:
 * zlib hashes a few bytes beyond the end of its input, which are left over from the last use.
 */
export class Deflater {
  readonly #level: number
  readonly #isReusing: boolean
  #stream: Stream | undefined

  /** `isReusing`: one stream for all pieces, if possible. */
  constructor(level: number, isReusing = true) {
    this.#level = level
    this.#isReusing = isReusing
  }

  /** Writes the piece to `room` from `start` on, and returns where it ends. */
  deflate(raw: Uint8Array, room: Uint8Array, start = 0): number {
    if (this.#isReusing) {
      this.#stream ??= createDeflateRaw({ level: this.#level }) as unknown as Stream
      const length = throughStream(this.#stream, constants.Z_FULL_FLUSH, raw, room, start)
      if (length !== undefined) return start + length
    }
    const data = deflateRawSync(raw, { level: this.#level, finishFlush: constants.Z_FULL_FLUSH })
    room.set(data, start)
    return start + data.byteLength
  }
}

/**
 * Deflates a piece for one response, as a Deflater does, but in a new stream: in this process the same text always gives the same
 * bytes, so that a strong tag can name them.
 */
export function deflateForResponse(raw: Uint8Array): Buffer {
  return deflateRawSync(raw, { level: 1, finishFlush: constants.Z_FULL_FLUSH, chunkSize: roomFor(raw.byteLength) })
}

/**
 * Identifies the form that `deflateForResponse` gives to texts. It differs between versions of zlib, between runtimes, and between
 * some processors. A sample may miss a small difference, so the version and the architecture count too.
 */
export function responseFingerprint(): string {
  const lines = Array.from({ length: 300 }, (_, n) => `{"id":${n},"at":"${(n * n * 7919) % 10_007}","tag":${n % 13}}`)
  const { versions, arch } = process
  const zlib = crc32(`${versions['zlib']} ${arch}`)
  return crc32(deflateForResponse(Buffer.from(lines.join('\n'))), zlib).toString(36)
}

/** Room for so many bytes also if they do not shrink, in a few pieces. */
export function roomFor(rawLength: number): number {
  return rawLength + (rawLength >> 9) + 256
}

export class Inflater {
  readonly #isReusing: boolean
  #stream: Stream | undefined

  /** See `Deflater`. */
  constructor(isReusing = true) {
    this.#isReusing = isReusing
  }

  /** Writes what a piece holds to `room`, and returns how many bytes these are. Undefined if it is damaged or does not fit. */
  inflate(data: Uint8Array, room: Uint8Array): number | undefined {
    if (this.#isReusing) {
      if (this.#stream === undefined || this.#stream._handle === null)
        this.#stream = silent(createInflateRaw() as unknown as Stream)
      const length = throughStream(this.#stream, constants.Z_SYNC_FLUSH, data, room, 0)
      if (length !== undefined || this.#stream._writeState !== undefined) return length
    }
    try {
      const raw = inflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: room.byteLength })
      room.set(raw)
      return raw.byteLength
    } catch {
      return undefined
    }
  }
}

/** Undefined if not all of it was read, or if the stream is none that can be used so. */
function throughStream(
  { _handle: handle, _writeState: left }: Stream,
  flush: number,
  from: Uint8Array,
  to: Uint8Array,
  start: number,
): number | undefined {
  if (handle == null || left === undefined) return undefined
  const room = to.byteLength - start
  // It stays so if it fails.
  left[1] = from.byteLength
  handle.reset()
  handle.writeSync(flush, from, 0, from.byteLength, to, start, room)
  const [roomLeft = 0, unread = 0] = left
  return unread === 0 && roomLeft > 0 ? room - roomLeft : undefined
}

/** Whoever asks is told what failed; the event would end the process. */
function silent(stream: Stream): Stream {
  stream.on('error', () => {})
  return stream
}
