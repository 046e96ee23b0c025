/** Where items come from: a file or standard input, as bytes; and what the name of a file says: its format and its collection. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, isSystemError } from './failure.ts'

/** Large enough that the disk is asked rarely, small beside everything else in memory. */
const CHUNK_BYTES = 1024 * 1024

const PIPE_POLL_MS = 20

/** What a pipe holds, on Linux. */
const PIPE_BYTES = 64 * 1024

export interface Source {
  /** What messages call it. */
  readonly label: string
  /** The size on disk; undefined when it is not known, as for a pipe. */
  readonly totalBytes: number | undefined
  readonly readBytes: number
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array>
  close(): void
}

/** `-` is standard input. When `signal` is aborted, reading fails with an error. */
export async function openSource(path: string, signal: AbortSignal, label = path): Promise<Source> {
  if (path === '-') {
    if (fstatSync(0).isDirectory())
      throw new Failure(2, 'Standard input is a directory: expected a file of items, or a pipe.')
    return createSource('standard input', process.stdin, undefined, signal)
  }
  try {
    const status = await stat(path)
    if (status.isDirectory()) throw new Failure(2, `${path} is a directory: expected a file of items.`)
    if (status.isFIFO()) {
      const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
      return createSource(label, Readable.from(readPipe(fd, signal)), undefined, signal)
    }
    const stream = (await open(path)).createReadStream({ highWaterMark: CHUNK_BYTES })
    return createSource(label, stream, status.isFile() ? status.size : undefined, signal)
  } catch (error) {
    if (isSystemError(error)) throw new Failure(2, cannotRead(path, error.code), { cause: error })
    throw error
  }
}

/** Reads a pipe in the event loop: a thread that waits in a system call could not be interrupted. */
async function* readPipe(fd: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield await firstBytes(fd, signal)
  // A socket of Bun reads nothing from a pipe.
  if (process.versions['bun']) yield* pollPipe(fd, signal)
  else yield* addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }))
}

/** A pipe that nobody has opened for writing yet looks like one at its end: so the first bytes are polled for. */
async function firstBytes(fd: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const bytes = readNow(fd) ?? Buffer.alloc(0)
    if (bytes !== 'end') return bytes
    signal.throwIfAborted()
    await sleep(PIPE_POLL_MS)
  }
}

async function* pollPipe(fd: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for (let bytes = readNow(fd); bytes !== 'end'; bytes = readNow(fd)) {
      if (bytes === undefined) await sleep(1)
      else yield bytes
      signal.throwIfAborted()
    }
  } finally {
    closeSync(fd)
  }
}

/** What is in the pipe; undefined if nothing is at the moment. */
function readNow(fd: number): Buffer | 'end' | undefined {
  const bytes = Buffer.alloc(PIPE_BYTES)
  try {
    const length = readSync(fd, bytes)
    return length === 0 ? 'end' : bytes.subarray(0, length)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EAGAIN') return undefined
    throw error
  }
}

function cannotRead(path: string, code: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `There is no file ${path}. Check the path.`
  if (code === 'EACCES' || code === 'EPERM') return `${path} cannot be read: no permission.`
  return `${path} cannot be read: ${code}.`
}

function createSource(label: string, stream: Readable, totalBytes: number | undefined, signal: AbortSignal): Source {
  addAbortSignal(signal, stream)
  let readBytes = 0
  return {
    label,
    totalBytes,
    get readBytes() {
      return readBytes
    },
    async *[Symbol.asyncIterator]() {
      for await (const chunk of stream) {
        readBytes += chunk.length
        yield chunk
      }
    },
    close: () => stream.destroy(),
  }
}
