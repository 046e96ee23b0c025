/** Clients of a database that each ask again when they are answered: what a load over HTTP is, without HTTP. */

import type { LoadResult, LoadSize } from '../running-load.ts'

export interface DatabaseClient {
  /** Resolves when the answer is there. */
  ask(): Promise<void>
  end(): Promise<void>
}

/** Prints a line when the clock starts, and the result when enough have been answered. */
export async function runClients(size: LoadSize, connect: () => Promise<DatabaseClient>): Promise<void> {
  const { connections, warmUp, requests = 0 } = size
  const clients = await Promise.all(Array.from({ length: connections }, connect))
  let answered = 0
  let startedAt = performance.now()
  let endedAt = 0
  const goOn = async ({ ask }: DatabaseClient): Promise<void> => {
    while (endedAt === 0) {
      await ask()
      answered++
      if (answered === warmUp) startedAt = performance.now()
      if (answered === warmUp + requests) endedAt = performance.now()
    }
  }
  console.log('begun')
  await Promise.all(clients.map(goOn))
  const result: LoadResult = { requests, durationMs: endedAt - startedAt }
  console.log(JSON.stringify(result))
  await Promise.all(clients.map(({ end }) => end()))
}
