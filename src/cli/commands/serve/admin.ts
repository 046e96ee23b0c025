/** The admin port: whether the service is alive, whether it is ready for requests, and its metrics. */

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isLoopbackHost } from '../../../contract/url.ts'
import { http } from '../../../service/node/http-module.ts'
import type { Store } from '../../../store/store.ts'
import { StoreError } from '../../../store/store-error.ts'
import { Failure, isSystemError } from '../../failure.ts'
import { listWithFollowings } from '../../followed.ts'
import type { SettingValues } from '../../setting-values.ts'
import type { Draining } from './draining.ts'
import { collectionMetrics, expose, type Metric, workerMetric } from './metrics.ts'
import { listenFailure, localUrl, type RunningServer } from './server.ts'

/** How long the store may take to show that it can be read. */
const STORE_MS = 2_000
/** Few ask here, and each for little. */
const MAX_CONNECTIONS = 32
const REQUEST_MS = 10_000
const IDLE_MS = 60_000

/** The addresses that stand for all of a machine's. */
const ANY_ADDRESS = ['0.0.0.0', '::']

export interface Admin extends AsyncDisposable {
  readonly url: string
  /** From now on it tells about these. Before, nothing is ready. */
  readonly watch: (store: Store, server: RunningServer) => void
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers from now on: `/ready` says that it is not. */
export async function openAdmin(settings: SettingValues, draining: Draining): Promise<Admin> {
  const [port, host] = [settings.get('adminPort'), settings.get('adminHost')]
  if (port === undefined)
    throw new Failure(2, 'There is an --admin-host, but no port for it. Add one, for example --admin-port 9090.')
  checkOwnPort(port, host, settings)
  const watcher = new Watcher(draining)
  const server = http.createServer(
    { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: REQUEST_MS },
    (request, response) => void answer(watcher, host, request, response),
  )
  Object.assign(server, { maxConnections: MAX_CONNECTIONS, timeout: IDLE_MS })
  await listenOn(server, port, host, settings.get('port'))
  // A connection that cannot be accepted must not end the service.
  server.on('error', () => {})
  const bound = server.address()
  const url = localUrl(host, typeof bound === 'object' ? (bound?.port ?? port) : port)
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { url, watch: (store, running) => watcher.watch(store, running), [Symbol.asyncDispose]: close }
}

function checkOwnPort(port: number, host: string, settings: SettingValues): void {
  const others = settings.get('host')
  const isLoopback = isLoopbackAddress(host) && isLoopbackAddress(others)
  const overlaps = host === others || isLoopback || [host, others].some((each) => ANY_ADDRESS.includes(each))
  if (port === 0 || port !== settings.get('port') || !overlaps) return
  throw new Failure(
    2,
    `The admin port is the port of the service, ${port}. It shows names of private collections: give it one of its own, for example --admin-port ${port === 9090 ? 9091 : 9090}.`,
  )
}

/** `except` is a port that the service will need. */
async function listenOn(server: Server, port: number, host: string, except: number): Promise<void> {
  try {
    server.listen({ port, host })
    await once(server, 'listening')
  } catch (error) {
    const reason = isSystemError(error) ? await listenFailure(error.code, host, port, 'admin-', except) : undefined
    throw reason === undefined ? error : new Failure(2, reason, { cause: error })
  }
}

function isLoopbackAddress(host: string): boolean {
  return /^(127\.|::1$|localhost$)/i.test(host)
}

interface Watched {
  readonly store: Store
  readonly server: RunningServer
}

/** What is known of the service. */
class Watcher {
  readonly #draining: Draining
  #watched: Watched | undefined
  /** Many may ask at once, or while the store is slow. */
  readonly metrics = shared(() => this.#metrics())
  readonly #ping = shared(async () => void (await this.#watched?.store.ping()))
  readonly #listed = shared(async () => {
    await this.#ping()
    return this.#watched && (await listWithFollowings(this.#watched.store))
  })

  constructor(draining: Draining) {
    this.#draining = draining
  }

  watch(store: Store, server: RunningServer): void {
    this.#watched = { store, server }
  }

  async ready(): Promise<Answer> {
    const unready = (text: string) => ({ status: 503, text })
    if (this.#draining.isBegun) return unready('draining')
    if (this.#watched === undefined) return unready('starting')
    if (this.#watched.server.countWorkers() === 0) return unready('no worker serves')
    try {
      await inTime(this.#ping())
    } catch (error) {
      return unready(error instanceof StoreError ? error.message : 'The store cannot be read.')
    }
    return this.#draining.isBegun ? unready('draining') : { status: 200, text: 'ok' }
  }

  async #metrics(): Promise<Answer> {
    const all = this.#watched === undefined ? [workerMetric(0)] : await this.#read(this.#watched)
    const { contentType, text } = await expose(all)
    return { status: 200, text, headers: { 'Content-Type': contentType } }
  }

  async #read({ server }: Watched): Promise<Metric[]> {
    const listed = inTime(this.#listed()).catch(() => undefined)
    const metrics = await server.readMetrics()
    return [...metrics, workerMetric(server.countWorkers()), ...collectionMetrics(await listed)]
  }
}

/** Whoever asks while it runs gets the same result. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took more than ${STORE_MS} ms.`)), STORE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

async function answer(
  watcher: Watcher,
  host: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, text, headers } = await choose(watcher, host, request).catch((error: unknown) => ({
    status: 500,
    text: String(error),
    headers: {},
  }))
  const body = text.endsWith('\n') ? text : `${text}\n`
  const usual = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  response.writeHead(status, { ...usual, 'Content-Length': Buffer.byteLength(body), ...headers })
  response.end(request.method === 'HEAD' ? undefined : body)
}

async function choose(watcher: Watcher, host: string, request: IncomingMessage): Promise<Answer> {
  const name = request.headers.host?.replace(/:\d*$/, '') ?? host
  // A web page whose host was made to point here must not read it (DNS rebinding).
  if (isLoopbackAddress(host) && name !== host && !isLoopbackHost(name))
    return { status: 421, text: 'This is for the machine itself: ask for localhost or 127.0.0.1.' }
  const answers: Readonly<Record<string, () => Answer | Promise<Answer>>> = {
    '/live': () => ({ status: 200, text: 'ok' }),
    '/ready': () => watcher.ready(),
    '/metrics': watcher.metrics,
  }
  const [path = ''] = (request.url ?? '').split('?', 1)
  const found = Object.hasOwn(answers, path) ? answers[path] : undefined
  if (found === undefined) return { status: 404, text: 'Here are /live, /ready and /metrics.' }
  if (!['GET', 'HEAD'].includes(request.method ?? ''))
    return { status: 405, text: 'Only GET and HEAD.', headers: { Allow: 'GET, HEAD' } }
  return found()
}
