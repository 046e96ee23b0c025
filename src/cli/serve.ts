/** `reams serve`: puts files, the sample or a store on a port until a signal comes. */

import cluster from 'node:cluster'
import type { CliCommand } from './command.ts'
import { Interruption } from './interruption.ts'
import { print } from './output.ts'
import { checkAddress, localUrl } from './serve/address.ts'
import { greeting } from './serve/greeting.ts'
import { openServedStore, type ServedStore } from './serve/served-store.ts'
import { type RunningServer, startServer, tryPort } from './serve/server.ts'
import { runWorker } from './serve/worker.ts'
import { startWorkers, WorkerEnded } from './serve/workers.ts'
import type { SettingValues } from './setting-values.ts'

export const SERVE: CliCommand = {
  name: 'serve',
  group: 'Serve',
  usage: '[FILE…] [options]',
  summary: 'serve files or a store over HTTP',
  description: `Serves files, or the collections of a store, over HTTP until Ctrl-C.
Files are served from a temporary store that is removed at the end: one
collection a file, named after it. Without files it serves the store.`,
  operands: [{ syntax: '[FILE...]', description: '.ndjson, .jsonl, .json or .csv, also gzip' }],
  examples: [
    { line: 'reams serve events.ndjson venues.csv.gz', purpose: 'two collections' },
    { line: 'reams serve --store my.db --port 9000', purpose: 'a store' },
    { line: 'reams serve --store postgres://me@host/db --create', purpose: 'a database' },
    { line: 'reams serve --host 0.0.0.0 --base-url https://x.example', purpose: 'for others' },
  ],
  run: runServe,
}

async function runServe(files: readonly string[], settings: SettingValues): Promise<number> {
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

function start({ store, location }: ServedStore, settings: SettingValues): Promise<RunningServer> {
  const workers = settings.get('workers')
  return workers === 1 ? startServer(store, settings) : startWorkers(workers, location)
}

/** Where it is reached, and where it listens, if the base URL does not tell. */
function addresses(settings: SettingValues, port: number) {
  const [host, baseUrl] = [settings.get('host'), settings.get('baseUrl')]
  return baseUrl === undefined ? { baseUrl: localUrl(host, port) } : { baseUrl, listensOn: `port ${port} of ${host}` }
}
