/**
 * What appends are compared with: the same service, with the same routing, tokens and reading of bodies, in front of a
 * store that keeps nothing and answers at once.
 */

import { createService } from '../src/service/create-service.ts'
import { listen } from '../src/service/node/listen.ts'
import type { Head, Store, TokenRecord } from '../src/store/store.ts'

const head: Head = {
  name: 'events',
  id: 1,
  generation: 1,
  version: 1,
  commitId: '',
  fullPagesId: '',
  next: 0,
  live: 0,
  changes: 0,
  historyFrom: 1,
  retentionMs: 0,
  retentionBytes: 0,
  origin: null,
  keyField: null,
  isPaginated: true,
  isPrivate: false,
}
const token: TokenRecord = {
  name: 'bench',
  hash: '',
  scopes: ['admin'],
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
}
const store: Pick<Store, 'token' | 'head' | 'append'> = {
  token: async () => token,
  head: async () => head,
  append: async () => head,
}

// The cast: an append asks for nothing else.
const service = createService({ store: store as Store })
const listening = await listen({ ...service, port: 0 })
console.log(`http://127.0.0.1:${listening.port}`)
process.once('SIGTERM', () => listening.close(0))
