// Reams inside an existing Fastify app: its collections lie under /data, beside the routes that are there already.
//
//   REAMS_STORE=data/reams.db PORT=3000 node examples/fastify-app.ts

import { getRequestListener } from '@hono/node-server'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { createService } from 'reams'
import { openSqliteStore } from 'reams/store/sqlite'

const port = Number(process.env['PORT'] ?? 3000)
const store = await openSqliteStore({ path: process.env['REAMS_STORE'] ?? 'reams.db' })
const reams = getRequestListener(createService({ store, baseUrl: `http://127.0.0.1:${port}/data` }).fetch)

const app = fastify()
app.register(async (data) => {
  // Only for the routes in here: Reams reads the body itself, whatever its type and size.
  data.removeAllContentTypeParsers()
  data.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const serve = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    return reams(request.raw, reply.raw)
  }
  data.all('/data', serve)
  data.all('/data/*', serve)
})
app.get('/hello', async () => 'Hello from the app around it.')
app.post('/echo', async (request) => request.body)

await app.listen({ host: '127.0.0.1', port })
console.log(`http://127.0.0.1:${port}/data/`)

process.once('SIGTERM', async () => {
  await app.close()
  await store.close()
})
