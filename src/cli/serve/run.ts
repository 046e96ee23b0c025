/** Serves what the command line names, until a signal comes. */

import cluster from 'node:cluster'
import { Interruption } from '../interruption.ts'
import { print } from '../output.ts'
import type { SettingValues } from '../setting-values.ts'
import { checkAddress, localUrl } from './address.ts'
import { greeting } from './greeting.ts'
import { openServedStore, type ServedStore } from './served-store.ts'
import { type RunningServer, startServer, tryPort } from './server.ts'
import { runWorker } from './worker.ts'
import { startWorkers, WorkerEnded } from './workers.ts'

export async function runServe(files: readonly string[], settings: SettingValues): Promise<number> {
  using interruption = new Interruption()
  if (cluster.isWorker) return runWorker(settings, interruption.happened())
  checkAddress(settings)
  // Files can take long to load: whether the port can be had is better known before.
  if (files.length > 0) await tryPort(settings)
  await using served = await openServedStore(files, settings, interruption.signal).catch((error: unknown) => {
    if (interruption.signal.aborted) return undefined
    throw error
  })
  if (served === undefined) return 0
  try {
    await using server = await start(served, settings)
    const options = { ...served, ...addresses(settings, server.port), isTokenRequired: settings.get('requireToken') }
    await print(await greeting(options))
    await interruption.happened()
  } catch (error) {
    if (!(error instanceof WorkerEnded)) throw error
    return interruption.signal.aborted ? 0 : error.exitStatus
  }
  return 0
}

async function start({ store, location }: ServedStore, settings: SettingValues): Promise<RunningServer> {
  const workers = settings.get('workers')
  return workers === 1 ? startServer(store, settings) : startWorkers(workers, location, await tryPort(settings))
}

/** Where it is reached, and where it listens, if the base URL does not tell. */
function addresses(settings: SettingValues, port: number) {
  const [host, baseUrl] = [settings.get('host'), settings.get('baseUrl')]
  return baseUrl === undefined ? { baseUrl: localUrl(host, port) } : { baseUrl, listensOn: `port ${port} of ${host}` }
}
