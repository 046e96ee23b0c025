/** Where output goes: a file, or else standard output, a pipe or a device, where nothing can be taken back. */

import { constants } from 'node:fs'
import { open, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Failure, isSystemError } from '../failure.ts'

export interface OutputTarget {
  /** Undefined: standard output. Where it is a link, the file that it leads to. */
  readonly path: string | undefined
  /** Whether it is a file, or can become one; otherwise it cannot be replaced. */
  readonly isFile: boolean
  /** Whether the file is there. */
  readonly isThere: boolean
  readonly isPacked: boolean
}

/** Throws a Failure for a path that output cannot be written to. `-` and `/dev/stdout` are standard output, as is nothing. */
export async function outputTarget(path = '-'): Promise<OutputTarget> {
  if (path === '-' || path === '/dev/stdout') return { path: undefined, isFile: false, isThere: false, isPacked: false }
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory()) throw new Failure(2, `${path} is a directory. Name a file in it.`)
  if (existing?.isSocket()) throw new Failure(2, `${path} is a socket. Name a file.`)
  const isFile = existing?.isFile() ?? true
  const isPacked = /\.gz$/i.test(path)
  return { path: isFile ? await linkedPath(path) : path, isFile, isThere: isFile && existing !== undefined, isPacked }
}

/** Where a link leads to, also one to a file that is not there yet; any other path as it is. */
async function linkedPath(path: string): Promise<string> {
  const target = await readlink(path).catch(() => undefined)
  return target === undefined ? path : realpath(path).catch(() => resolve(dirname(path), target))
}

/** Takes bytes, and resolves when more can come. */
export interface ByteStream extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>
}

/** How often to try a pipe that has no reader, or no room. */
const POLL_MS = 5

/** For a target that is not a file. */
export async function openStream({ path, isPacked }: OutputTarget, signal: AbortSignal): Promise<ByteStream> {
  const stream = path === undefined ? STANDARD_OUTPUT : await openPath(path, signal)
  if (!isPacked) return stream
  return { ...stream, write: async (bytes) => stream.write(await promisify(gzip)(bytes)) }
}

const STANDARD_OUTPUT: ByteStream = {
  write: (bytes) =>
    new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
    }),
  [Symbol.asyncDispose]: async () => {},
}

/** Never blocks in a system call, where no signal could end the wait. */
async function openPath(path: string, signal: AbortSignal): Promise<ByteStream> {
  const handle = await patiently(() => open(path, constants.O_WRONLY | constants.O_NONBLOCK), signal)
  return {
    write: async (bytes) => {
      for (let done = 0; done < bytes.length; )
        done += (await patiently(() => handle.write(bytes, done), signal)).bytesWritten
    },
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

/** Tries until a pipe has a reader, or room. */
async function patiently<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;)
    try {
      return await attempt()
    } catch (error) {
      if (!isSystemError(error) || (error.code !== 'ENXIO' && error.code !== 'EAGAIN')) throw error
      await sleep(POLL_MS, undefined, { signal })
    }
}
