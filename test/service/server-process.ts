/** A server in a process of its own, which tells how much memory it has taken at most. Its argument is the path of the store. */

import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/listen.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'

const store = await openSqliteStore({ path: process.argv[2] ?? '' })
const { port } = await listen({ port: 0, fetch: createService({ store, limits: { bodyBytes: 16_000_000 } }).fetch })
process.on('message', () => process.send?.({ mostBytes: process.resourceUsage().maxRSS * 1024 }))
process.send?.({ port })
