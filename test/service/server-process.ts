/** A server in a process of its own, which tells how much memory it has taken at most. Its argument is the place of the store. */

import { openStore, StoreLocation } from '../../src/cli/open-store.ts'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'

const store = await openStore(new StoreLocation(process.argv[2] ?? ''))
const { port } = await listen({ port: 0, ...createService({ store, limits: { bodyBytes: 16_000_000 } }) })
process.on('message', () => process.send?.({ mostBytes: process.resourceUsage().maxRSS * 1024 }))
process.send?.({ port })
