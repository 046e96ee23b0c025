// Reams inside an existing Express app: its collections lie under /data, beside the routes that are there already.
//
//   REAMS_STORE=data/reams.db PORT=3000 node examples/express-app.ts

import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { createService } from 'reams'
import { openSqliteStore } from 'reams/store/sqlite'

const port = Number(process.env['PORT'] ?? 3000)
const store = await openSqliteStore({ path: process.env['REAMS_STORE'] ?? 'reams.db' })
const reams = getRequestListener(createService({ store, baseUrl: `http://127.0.0.1:${port}/data` }).fetch)

const app = express()
// Before any body parser: Reams reads the body itself.
app.use('/data', (request, response) => {
  // Express takes the mount path off `url`; Reams wants all of it.
  request.url = request.originalUrl
  return reams(request, response)
})
app.use(express.json())
app.get('/hello', (_request, response) => {
  response.send('Hello from the app around it.')
})
app.post('/echo', (request, response) => {
  response.json(request.body)
})

const server = app.listen(port, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${port}/data/`)
})

process.once('SIGTERM', () => {
  server.close(() => store.close())
})
