// Reams inside an existing Hono app: its collections lie under /data, beside the routes that are there already.
//
//   REAMS_STORE=data/reams.db PORT=3000 node examples/hono-app.ts

import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createService } from 'reams'
import { openSqliteStore } from 'reams/store/sqlite'

const port = Number(process.env['PORT'] ?? 3000)
const store = await openSqliteStore({ path: process.env['REAMS_STORE'] ?? 'reams.db' })
const reams = createService({ store, baseUrl: `http://127.0.0.1:${port}/data` })

const app = new Hono()
app.get('/hello', (c) => c.text('Hello from the app around it.'))
app.all('/data/*', (c) => reams.fetch(c.req.raw))

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, () => {
  console.log(`http://127.0.0.1:${port}/data/`)
})

process.once('SIGTERM', () => {
  server.close(() => store.close())
})
