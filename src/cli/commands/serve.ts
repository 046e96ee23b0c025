/** `reams serve`: serves files, tables, the sample or a store on a port until a signal comes. */

import cluster from 'node:cluster'
import { entryUrl } from '../../contract/link.ts'
import { Failure } from '../failure.ts'
import { FILE_SETTINGS } from '../input.ts'
import { Interruption } from '../interruption.ts'
import { report } from '../output.ts'
import { type CliCommand, type SettingValues, warnOfPassword } from '../setting-values.ts'
import { tuneAllocator } from './serve/allocator.ts'
import { Draining } from './serve/draining.ts'
import { greeting } from './serve/greeting.ts'
import { isSample, isTemporary, openServedStore } from './serve/served-store.ts'
import { readTlsFiles, renewTls } from './serve/tls-files.ts'
import { refuseUnnamedTables } from './serve/unnamed-tables.ts'

export const SERVE: CliCommand = {
  name: 'serve',
  group: 'Serve',
  usage: '[FILE…] [options]',
  summary: 'serve files, tables or a store over HTTP',
  description: `Serves files, tables, or the collections of a store, over HTTP until Ctrl-C.
Files and tables are served from a temporary store, which is removed at the end:
each is a collection, named after it; FILE:FIELD also names its key. Without
files and --from it serves the store.`,
  operands: [
    { syntax: '[FILE...]', description: '.ndjson, .jsonl, .json, .csv or .tsv, also gzip', suggestions: 'files' },
  ],
  settings: [
    'store',
    'tableFrom',
    'table',
    'query',
    'order',
    'create',
    'sample',
    ...FILE_SETTINGS,
    'historyBytes',
    'itemBytes',
    'bodyBytes',
    'requestItems',
    'workers',
    'cacheBytes',
    'unsentBytes',
    'port',
    'host',
    'baseUrl',
    'tlsCert',
    'tlsKey',
    'adminPort',
    'adminHost',
    'drainDelay',
    'shutdownTimeout',
    'requireToken',
    'createOnWrite',
    'rateLimit',
    'writeRateLimit',
    'trustProxy',
    'corsOrigin',
    'key',
    'unpaginated',
    'onConflict',
    'logLevel',
    'logRequests',
    'json',
  ],
  examples: [
    { line: 'reams serve events.ndjson:id venues.csv.gz', purpose: 'two collections' },
    { line: 'reams serve --from postgres:///shop --table events', purpose: 'a table' },
    { line: 'reams serve --store my.db --port 9000', purpose: 'a store' },
    { line: 'reams serve --store postgres://me@host/db --create', purpose: 'a database' },
    { line: 'reams serve --host 0.0.0.0 --base-url https://x.example', purpose: 'for others' },
  ],
  run: runServe,
}

/** What npm runs in the foreground: when npm ends, so does the server. */
const NPM_EVENTS = ['start', 'npx']

async function runServe(files: readonly string[], settings: SettingValues): Promise<number> {
  tuneAllocator()
  // Here and not above, so that other commands start without the service.
  const { openLog } = await import('./serve/log.ts')
  const { checkAddress, localUrl, startServer, tryPort } = await import('./serve/server.ts')
  const { runWorker, startWorkers } = await import('./serve/workers.ts')
  using interruption = new Interruption()
  if (NPM_EVENTS.includes(process.env['npm_lifecycle_event'] ?? '')) interruption.endWithParent()
  if (settings.isGiven('tlsCert')) interruption.onHangUp(() => {})
  if (cluster.isPrimary) checkAddress(settings)
  const isForOneRun = isTemporary(files, settings)
  await using log = openLog(settings, isForOneRun || isSample(settings))
  if (cluster.isWorker) return await runWorker(settings, interruption.happened(), log)
  warnOfPassword(settings, log.warn)
  const draining = new Draining(interruption.happened())
  const isEncrypted = readTlsFiles(settings, log.warn) !== undefined
  // Files and tables can take long to load: better to know before whether the port is free.
  if (isForOneRun) {
    if (files.length === 0) await refuseUnnamedTables(settings, interruption.signal)
    await tryPort(settings)
  }
  const isAdminWanted = settings.isGiven('adminPort') || settings.isGiven('adminHost')
  await using admin = isAdminWanted ? await (await import('./serve/admin.ts')).openAdmin(settings, draining) : undefined
  await using served = await openServedStore(files, settings, interruption.signal).catch((error: unknown) => {
    if (interruption.signal.aborted) return undefined
    throw error
  })
  if (served === undefined) return 0
  const [workers, host, baseUrl] = [settings.get('workers'), settings.get('host'), settings.get('baseUrl')]
  try {
    await using server = await (workers === 1
      ? startServer(served.store, settings, log, draining)
      : startWorkers(settings, served.location, settings.get('port') || (await tryPort(settings)), log, draining))
    const { port } = server
    const address =
      baseUrl === undefined ? { baseUrl: localUrl(host, port, isEncrypted) } : { baseUrl, listensOn: { host, port } }
    admin?.watch(served.store, server)
    const isTokenRequired = settings.get('requireToken')
    const facts = { url: entryUrl(address.baseUrl), host, port, admin_url: admin?.url ?? null }
    await report(settings, facts, await greeting({ ...served, ...address, isTokenRequired, adminUrl: admin?.url }))
    if (isEncrypted) {
      interruption.onHangUp(() => {
        if (renewTls(settings, server, log)) log.info('The TLS certificate was read again.')
      })
    }
    await draining.begun
  } catch (error) {
    // Ctrl-C signals every process: a worker that was about to start has ended too.
    if (interruption.signal.aborted && error instanceof Failure) return 0
    throw error
  }
  return 0
}
