/** Where items come from: a file or standard input, as bytes; and what the name of a file says: its format and its collection. */

import { constants, fstatSync, openSync, readSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { basename } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isCollectionName, NAME_RULE } from '../contract/name.ts'
import type { InputFormat } from '../items/read-items.ts'
import { Failure, isSystemError } from './failure.ts'

/** Large enough that the disk is asked rarely, small beside everything else in memory. */
const CHUNK_BYTES = 1024 * 1024

const PIPE_POLL_MS = 20

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
export async function openSource(path: string, signal: AbortSignal): Promise<Source> {
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
      return createSource(path, Readable.from(readPipe(fd, signal)), undefined, signal)
    }
    const stream = (await open(path)).createReadStream({ highWaterMark: CHUNK_BYTES })
    return createSource(path, stream, status.isFile() ? status.size : undefined, signal)
  } catch (error) {
    if (isSystemError(error)) throw new Failure(2, cannotRead(path, error.code), { cause: error })
    throw error
  }
}

/** Reads a pipe in the event loop: a thread that waits in a system call could not be interrupted. */
async function* readPipe(fd: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield await firstBytes(fd, signal)
  yield* addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }))
}

/** A pipe that nobody has opened for writing yet looks like one at its end: so the first bytes are polled for. */
async function firstBytes(fd: number, signal: AbortSignal): Promise<Buffer> {
  const bytes = Buffer.alloc(CHUNK_BYTES)
  for (;;) {
    try {
      const length = readSync(fd, bytes)
      if (length > 0) return bytes.subarray(0, length)
    } catch (error) {
      if (isSystemError(error) && error.code === 'EAGAIN') return bytes.subarray(0, 0)
      throw error
    }
    signal.throwIfAborted()
    await sleep(PIPE_POLL_MS)
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

const FORMATS: ReadonlyMap<string, InputFormat> = new Map([
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.json', 'json'],
  ['.csv', 'csv'],
])

/** `base`, the extension that tells the format, and whether `.gz` follows it. */
const PARTS = /^(?<base>.*?)(?<extension>\.[^.]*)?(?:\.gz)?$/is

/** The format that the extension stands for, `.gz` left aside; undefined if it stands for none. */
export function formatOfName(path: string): InputFormat | undefined {
  const extension = PARTS.exec(basename(path))?.groups?.['extension']?.toLowerCase() ?? ''
  return FORMATS.get(extension)
}

/** The same, where there has to be one. */
export function formatOfFile(path: string): InputFormat {
  const format = formatOfName(path)
  if (format !== undefined) return format
  const known = [...FORMATS.keys()].join(', ')
  throw new Failure(
    2,
    `The name of ${path} does not show its format: expected ${known}, each also with .gz. Or add --format ndjson, json or csv.`,
  )
}

/** `My Events.ndjson.gz` → `my-events`: lower case, no extensions, a dash for what a name cannot hold. */
export function collectionNameOfFile(path: string): string {
  const base = PARTS.exec(basename(path))?.groups?.['base'] ?? ''
  const name = base
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
  if (isCollectionName(name)) return name
  const came = name === '' ? 'Nothing is left' : `"${name}" comes out`
  throw new Failure(
    2,
    `No collection can be named after ${path}. ${came}, and a name is ${NAME_RULE}. Rename the file, or load it under a name of your own: reams import NAME ${path}`,
  )
}

/** The files by the names of their collections, in order; two files of one name are refused. */
export function collectionsOfFiles(paths: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const path of paths) {
    const name = collectionNameOfFile(path)
    const other = files.get(name)
    if (other !== undefined)
      throw new Failure(2, `${other} and ${path} would both be the collection "${name}". Rename one of them.`)
    files.set(name, path)
  }
  return files
}
