/** Servers that cannot tell which port they took: they are given one, and asked until they answer. */

import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, type Program, type RunningServer, runningServer, startProgram } from './child-process.ts'

const ASK_EVERY_MS = 50

export interface PortOptions {
  readonly port: number
  /** Answered with a good status once the server is there. */
  readonly path: string
  readonly signal: AbortSignal
}

/** The program serves on 127.0.0.1. */
export async function startAtPort(program: Program, { port, path, signal }: PortOptions): Promise<RunningServer> {
  const child = startProgram(program, [], signal)
  const closed = ended(child)
  const url = `http://127.0.0.1:${port}`
  while (!(await isThere(url + path))) {
    if (child.exitCode !== null) throw new Error(`${program.join(' ')} ended before it served.`)
    await sleep(ASK_EVERY_MS, undefined, { signal })
  }
  return runningServer(child, closed, url)
}

async function isThere(url: string): Promise<boolean> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

/** One that nobody has right now. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0
      server.close(() => resolve(port))
    })
  })
}
