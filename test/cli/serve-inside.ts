/** The service inside this process, which spares a test that is not about `reams serve` the start of a server. */

import { join } from 'node:path'
import { createService, type Service, type ServiceOptions } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { Scope } from './run-cli.ts'

/** Serves `reams.db` of the directory. */
export async function serveInside(scope: Scope, directory: string, options: Partial<ServiceOptions> = {}) {
  return serveStore(scope, await openSqliteStore({ path: join(directory, 'reams.db'), create: true }), options)
}

/** Serves a store, and closes it at the end. */
export async function serveStore(scope: Scope, store: Store, options: Partial<ServiceOptions> = {}) {
  const { promise: service, resolve: start } = Promise.withResolvers<Service>()
  const listening = await listen({ reply: async (request) => (await service).reply(request), port: 0 })
  const url = `http://127.0.0.1:${listening.port}`
  start(createService({ store, baseUrl: url, ...options }))
  scope.after(async () => {
    await listening.close(0)
    await store.close()
  })
  return { store, url }
}
