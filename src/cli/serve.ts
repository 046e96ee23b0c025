/** `reams serve`: puts files, the sample or a store on a port until a signal comes. */

import { createService, type Service } from '../service/create-service.ts'
import { listen } from '../service/listen.ts'
import { checkAddress, defaultBaseUrl, explainListenError, localUrl } from './address.ts'
import type { CliCommand } from './command.ts'
import { greeting } from './greeting.ts'
import { Interruption } from './interruption.ts'
import { print, printError } from './output.ts'
import { openServedStore, type ServedStore } from './served-store.ts'
import type { SettingValues } from './setting-values.ts'

/** Long enough for any page that is under way, short enough for whoever waits. */
const CLOSE_GRACE_MS = 5_000

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
  checkAddress(settings)
  using interruption = new Interruption()
  // Files can take long to load: whether the port can be had is better known before.
  if (files.length > 0) await tryPort(settings)
  await using served = await openServedStore(files, settings, interruption.signal).catch((error: unknown) => {
    if (interruption.signal.aborted) return undefined
    throw error
  })
  if (served === undefined) return 0
  await using server = await startServer(served, settings)
  await print(await greeting({ ...served, ...server, isTokenRequired: settings.get('requireToken') }))
  await interruption.happened()
  return 0
}

async function tryPort(settings: SettingValues): Promise<void> {
  const fetch = () => new Response(null, { status: 503 })
  const trial = await listen({ fetch, host: settings.get('host'), port: settings.get('port') }).catch(
    (error: unknown) => {
      throw explainListenError(error, settings)
    },
  )
  await trial.close(0)
}

async function startServer(served: ServedStore, settings: SettingValues) {
  const host = settings.get('host')
  const baseUrl = settings.get('baseUrl')
  // Links need the port, which is known only after listening; no request is read before this function goes on.
  let service: Service | undefined
  const started = (): Service => {
    if (service === undefined) throw new Error('A request came before the service was there.')
    return service
  }
  const listening = await listen({
    fetch: (request) => started().fetch(request),
    reply: (request) => started().reply(request),
    host,
    port: settings.get('port'),
    ...(baseUrl !== undefined && { baseUrl }),
  }).catch((error: unknown) => {
    throw explainListenError(error, settings)
  })
  service = createService({
    store: served.store,
    ...(baseUrl === undefined
      ? { baseUrl: defaultBaseUrl(listening.port), loopbackPort: listening.port }
      : { baseUrl }),
    requireToken: settings.get('requireToken'),
    cacheBytes: settings.get('cacheBytes'),
    limits: {
      bodyBytes: settings.get('bodyBytes'),
      itemBytes: settings.get('itemBytes'),
      requestItems: settings.get('mostItems'),
    },
    onError: logRequestError,
  })
  return {
    baseUrl: baseUrl ?? localUrl(host, listening.port),
    ...(baseUrl !== undefined && { listensOn: `port ${listening.port} of ${host}` }),
    [Symbol.asyncDispose]: () => listening.close(CLOSE_GRACE_MS),
  }
}

/** One line a request, without headers and query: either can hold what must not be in a log. */
function logRequestError(error: unknown, request: Pick<Request, 'method' | 'url'>): void {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const path = new URL(request.url).pathname
  printError(`reams: ${request.method} ${path} failed: ${reason}`)
}
