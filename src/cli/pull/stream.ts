/** Standard output, a pipe or a device: what was written there cannot be taken back. */

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isSystemError } from '../failure.ts'
import type { PullOutput } from './output.ts'

/** Takes bytes, and resolves when more can come. */
export interface ByteStream extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>
}

/** So often a pipe is looked at that has no reader, or no room. */
const LOOK_EVERY_MS = 5

export async function openStream({ path, isPacked }: PullOutput, signal: AbortSignal): Promise<ByteStream> {
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

/** Never waits within the system, where no signal ends the wait. */
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
      await sleep(LOOK_EVERY_MS, undefined, { signal })
    }
}
