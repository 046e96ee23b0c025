/** The service on its port, as the settings want it. */

import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { counted } from '../../../contract/message-text.ts'
import { isLoopbackName } from '../../../contract/url.ts'
import { createService, type Service } from '../../../service/create-service.ts'
import { type ListenOptions, listen, type TlsPair } from '../../../service/node/listen.ts'
import type { LimiterOptions } from '../../../service/rate-limit.ts'
import type { Store } from '../../../store/store.ts'
import { Failure, isSystemError } from '../../failure.ts'
import { durationMs } from '../../setting-kind.ts'
import type { SettingValues } from '../../setting-values.ts'
import type { Draining } from './draining.ts'
import type { Log } from './log.ts'
import type { Metric } from './metrics.ts'
import { readTlsFiles } from './tls-files.ts'

/** At its end it answers for the drain delay, takes no more connections, and finishes what runs. */
export interface RunningServer extends AsyncDisposable {
  readonly port: number
  /** New connections get this certificate. */
  readonly renewTls: (pair: TlsPair) => void
  /** Processes that serve at this moment. */
  readonly countWorkers: () => number
  /** Of all of them. None without an admin port: nobody could ask. */
  readonly readMetrics: () => Promise<readonly Metric[]>
}

/** Beyond loopback only the user knows the address that clients use (D17). */
export function checkAddress(settings: SettingValues): void {
  const host = settings.get('host')
  if (settings.get('baseUrl') !== undefined || isLoopbackName(inUrl(host))) return
  throw new Failure(
    2,
    `To listen on ${host}, Reams needs the address that clients use, for the links. Add it, for example --base-url https://api.example.com or --base-url http://192.0.2.10:${settings.get('port')}.`,
  )
}

/** Where a server on a loopback host can be reached. */
export function localUrl(host: string, port: number, isEncrypted = false): string {
  return new URL(`${isEncrypted ? 'https' : 'http'}://${inUrl(host)}:${port}`).origin
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** On the port of the settings, or on another one. Several workers share the port and the memory. */
export async function startServer(
  store: Store,
  settings: SettingValues,
  { onRequestEnd, onError, warn }: Log,
  draining: Draining,
  port = settings.get('port'),
): Promise<RunningServer> {
  const tls = readTlsFiles(settings)
  store.activity.onNotice = warn
  const metrics = settings.get('adminPort') === undefined ? undefined : await import('./metrics.ts')
  const requests = metrics && new metrics.RequestCounts()
  const onEnd = both(onRequestEnd, requests && ((record) => requests.add(record)))
  const [baseUrl, workers] = [settings.get('baseUrl'), settings.get('workers')]
  const [bodyBytes, requestItems] = [settings.get('bodyBytes'), settings.get('requestItems')]
  const [unsentBytes, cacheBytes] = [settings.get('unsentBytes'), settings.get('cacheBytes')]
  // Links need the port, which is known only after listening: a request that comes before waits.
  const { promise: service, resolve: start } = Promise.withResolvers<Service>()
  const listening = await listenOn({
    reply: async (request) => (await service).reply(request),
    host: settings.get('host'),
    port,
    workers,
    ...(unsentBytes !== undefined && { unsentBytes: Math.floor(unsentBytes / workers) }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(onEnd && { onRequestEnd: onEnd }),
    onError,
    ...(tls && { tls }),
  })
  // Without a base URL, a request by another loopback name is answered by that name.
  const loopback = { baseUrl: localUrl('127.0.0.1', listening.port, tls !== undefined), loopbackPort: listening.port }
  start(
    createService({
      store,
      ...(baseUrl === undefined ? loopback : { baseUrl }),
      requireToken: settings.get('requireToken'),
      createOnWrite: settings.get('createOnWrite'),
      workers,
      ...(cacheBytes !== undefined && { cacheBytes: Math.floor(cacheBytes / workers) }),
      limits: {
        itemBytes: settings.get('itemBytes'),
        ...(bodyBytes !== undefined && { bodyBytes }),
        ...(requestItems !== undefined && { requestItems }),
      },
      ...(await limitOptions(settings)),
      trustedProxies: settings.get('trustProxy') ?? [],
      corsOrigins: settings.get('corsOrigin') ?? [],
      onError,
    }),
  )
  const stop = async (): Promise<void> => {
    // Nobody sends anything yet to a server that failed to start.
    if (draining.isBegun) await sleep(durationMs(settings.get('drainDelay')))
    if (draining.isBegun) await draining.portClosed
    const cut = await listening.close(durationMs(settings.get('shutdownTimeout')))
    if (cut > 0) warn(`Cut off after --shutdown-timeout: ${counted(cut, 'request')}.`)
  }
  const readProcess = metrics?.createProcessMetrics()
  return {
    port: listening.port,
    renewTls: listening.renewTls,
    countWorkers: () => 1,
    readMetrics: async () => [
      ...(requests?.read() ?? []),
      ...(metrics?.loadMetrics(listening.load()) ?? []),
      ...(metrics?.activityMetrics(store.activity) ?? []),
      ...((await readProcess?.()) ?? []),
    ],
    [Symbol.asyncDispose]: stop,
  }
}

type Listener = ListenOptions['onRequestEnd']

function both(first: Listener, second: Listener): Listener {
  if (first === undefined || second === undefined) return first ?? second
  return (record) => {
    first(record)
    second(record)
  }
}

/** What the settings say about limits by caller. All workers count together. */
async function limitOptions(settings: SettingValues): Promise<LimiterOptions> {
  const reads = settings.get('rateLimit')
  const writes = settings.get('writeRateLimit') ?? reads
  if (writes === undefined) return {}
  const rateLimits = { ...(reads && { reads }), writes }
  if (!cluster.isWorker) return { rateLimits }
  const { createSharedCounter } = await import('./shared-counter.ts')
  const workers = settings.get('workers')
  return { rateLimits, createRateCounter: (name, limit) => createSharedCounter(name, limit, workers) }
}

/** Fails if the port cannot be had. Returns its number, which for port 0 the system chose. Who connects meanwhile gets a 503. */
export async function tryPort(settings: SettingValues): Promise<number> {
  const reply = async () => ({ status: 503, headers: {}, body: null })
  const trial = await listenOn({ reply, host: settings.get('host'), port: settings.get('port') })
  await trial.close(0)
  return trial.port
}

async function listenOn(options: ListenOptions & { readonly host: string; readonly port: number }) {
  try {
    return await listen(options)
  } catch (error) {
    const reason = isSystemError(error) ? await listenFailure(error.code, options.host, options.port) : undefined
    throw reason === undefined ? error : new Failure(2, reason, { cause: error })
  }
}

/**
 * Advice on a port that cannot be used; undefined if the error itself says enough. `prefix` is that of the flags to name,
 * `except` a port not to suggest.
 */
export async function listenFailure(code: string, host: string, port: number, prefix = '', except?: number) {
  if (code === 'EADDRINUSE') {
    const other = await nextFreePort(host, port, except)
    const example = other === undefined ? '' : `--${prefix}port ${other}, or `
    return `Port ${port} on ${host} is in use. Stop the program that uses it, or take another: ${example}--${prefix}port 0 for any free one.`
  }
  if (code === 'EACCES')
    return `No permission to listen on port ${port} of ${host}. Ports below 1024 are for administrators: use a higher one, such as --${prefix}port 8080.`
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(code))
    return `This machine has no address "${host}". Use --${prefix}host with one of its own addresses, or 127.0.0.1.`
  return undefined
}

const PORTS_TRIED = 100

/** The next port that is free at this moment; undefined if none of those tried is. */
async function nextFreePort(host: string, port: number, except: number | undefined): Promise<number | undefined> {
  const first = port + PORTS_TRIED > 65_535 ? 8080 : port + 1
  for (let candidate = first; candidate < first + PORTS_TRIED; candidate++) {
    // Exclusive: a worker would otherwise ask the first process to listen.
    const server = createServer().listen({ host, port: candidate, exclusive: true })
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree && candidate !== except) return candidate
  }
  return undefined
}
