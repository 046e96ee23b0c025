/** A server that is far away: the service in front of a store, and a pause before every answer. */

import { setTimeout as sleep } from 'node:timers/promises'
import { createService, type Service } from '../src/service/create-service.ts'
import { listen } from '../src/service/node/listen.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

const [path = '', delayMs = ''] = process.argv.slice(2)

const store = await openSqliteStore({ path })
let service: Service | undefined
const listening = await listen({
  reply: async (request) => {
    await sleep(Number(delayMs))
    return service?.reply(request) ?? { status: 503, headers: {}, body: null }
  },
  port: 0,
})
const baseUrl = `http://127.0.0.1:${listening.port}`
service = createService({ store, baseUrl })
console.log(baseUrl)
process.once('SIGTERM', async () => {
  await listening.close(0)
  await store.close()
})
