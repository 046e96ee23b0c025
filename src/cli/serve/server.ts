/** The service on its port, as the settings want it. */

import { createService, type Service, type ServiceOptions } from '../../service/create-service.ts'
import type { Incoming } from '../../service/incoming.ts'
import { listen } from '../../service/node/listen.ts'
import type { Store } from '../../store/store.ts'
import { printError } from '../output.ts'
import type { SettingValues } from '../setting-values.ts'
import { defaultBaseUrl, explainListenError } from './address.ts'

/** Long enough for any page that is under way, short enough for whoever waits. */
export const CLOSE_GRACE_MS = 5_000

export interface RunningServer extends AsyncDisposable {
  readonly port: number
}

/** On the port of the settings, or on another one. Several workers share the port and the memory. */
export async function startServer(
  store: Store,
  settings: SettingValues,
  port = settings.get('port'),
): Promise<RunningServer> {
  const [baseUrl, workers] = [settings.get('baseUrl'), settings.get('workers')]
  // Links need the port, which is known only after listening: a request that comes before waits.
  const { promise: service, resolve: start } = Promise.withResolvers<Service>()
  const listening = await listen({
    reply: async (request) => (await service).reply(request),
    host: settings.get('host'),
    port,
    unsentBytes: Math.floor(settings.get('unsentBytes') / workers),
    ...(baseUrl !== undefined && { baseUrl }),
  }).catch((error: unknown) => {
    throw explainListenError(error, settings, port)
  })
  const options: ServiceOptions = {
    store,
    ...(baseUrl === undefined
      ? { baseUrl: defaultBaseUrl(listening.port), loopbackPort: listening.port }
      : { baseUrl }),
    requireToken: settings.get('requireToken'),
    cacheBytes: Math.floor(settings.get('cacheBytes') / workers),
    limits: {
      bodyBytes: settings.get('bodyBytes'),
      itemBytes: settings.get('itemBytes'),
      requestItems: settings.get('mostItems'),
    },
    onError: logRequestError,
  }
  start(createService(options))
  return { port: listening.port, [Symbol.asyncDispose]: () => listening.close(CLOSE_GRACE_MS) }
}

/** Fails if the port cannot be had. Answers its number, which for port 0 the system chose. */
export async function tryPort(settings: SettingValues): Promise<number> {
  const reply = async () => ({ status: 503, headers: {}, body: null })
  const trial = await listen({ reply, host: settings.get('host'), port: settings.get('port') }).catch(
    (error: unknown) => {
      throw explainListenError(error, settings)
    },
  )
  await trial.close(0)
  return trial.port
}

/** One line a request, without headers and query: either can hold what must not be in a log. */
function logRequestError(error: unknown, { method, target }: Pick<Incoming, 'method' | 'target'>): void {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const [path] = target.split('?', 1)
  printError(`reams: ${method} ${path} failed: ${reason}`)
}
