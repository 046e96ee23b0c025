// Reams inside a plain node:http server: its collections lie under /data, beside what the server answers itself.
//
//   REAMS_STORE=data/reams.db PORT=3000 node examples/node-http.ts

import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createService } from 'reams'
import { openSqliteStore } from 'reams/store/sqlite'

const port = Number(process.env['PORT'] ?? 3000)
const store = await openSqliteStore({ path: process.env['REAMS_STORE'] ?? 'reams.db' })
const reams = getRequestListener(createService({ store, baseUrl: `http://127.0.0.1:${port}/data` }).fetch)

const server = createServer((request, response) => {
  if (/^\/data(?=[/?]|$)/.test(request.url ?? '')) reams(request, response)
  else response.end('Hello from the server around it.\n')
})

server.listen(port, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${port}/data/`)
})

process.once('SIGTERM', () => {
  server.close(() => store.close())
})
