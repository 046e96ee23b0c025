/** One of several processes that serve on one port, started by `workers.ts`. */

import { openStore } from '../open-store.ts'
import type { SettingValues } from '../setting-values.ts'
import { StoreLocation } from '../store-location.ts'
import { startServer } from './server.ts'

/** Where the store is: in the environment, because a password must not be in the arguments of a process. */
export const STORE_VARIABLE = 'REAMS_WORKER_STORE'

/** The port as a number: with `--port 0` every worker would find another one when all have died together. */
export const PORT_VARIABLE = 'REAMS_WORKER_PORT'

/** What the first process sends to a worker that listens when all shall end. */
export const STOP = 'stop'

/** Serves until it is told to stop. */
export async function runWorker(settings: SettingValues, interrupted: Promise<void>): Promise<number> {
  const stopped = new Promise<void>((resolve) => {
    process.on('message', (message) => {
      if (message === STOP) resolve()
    })
  })
  try {
    const store = await openStore(new StoreLocation(process.env[STORE_VARIABLE] ?? ''))
    await using _store = { [Symbol.asyncDispose]: () => store.close() }
    await using _server = await startServer(store, settings, Number(process.env[PORT_VARIABLE]))
    await Promise.race([interrupted, stopped])
  } finally {
    // The channel to the first process would keep this one alive.
    process.channel?.unref()
  }
  return 0
}
