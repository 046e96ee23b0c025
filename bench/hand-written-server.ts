/** What one writes without Reams: a row an item, COUNT(*), OFFSET, JSON in and out. Run as `hand-written-server.ts DATABASE`. */

import { DatabaseSync } from 'node:sqlite'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { compress } from 'hono/compress'

const PAGE_SIZE = 500

const [databasePath = ''] = process.argv.slice(2)
const database = new DatabaseSync(databasePath, { readOnly: true })
const countEvents = database.prepare('SELECT COUNT(*) AS count FROM event')
const selectPage = database.prepare('SELECT json FROM event ORDER BY id LIMIT ? OFFSET ?')

const app = new Hono()
app.use(compress({ encoding: 'gzip' }))
app.get('/events', (c) => {
  const itemCount = Number(countEvents.get()?.['count'])
  const last = Math.max(1, Math.ceil(itemCount / PAGE_SIZE))
  const page = Math.min(Number(c.req.query('page') ?? 1), last)
  const rows = selectPage.all(PAGE_SIZE, (page - 1) * PAGE_SIZE)
  const url = new URL('/events', c.req.url).href
  const link = (target: number) => ({ href: `${url}?page=${target}` })
  return c.json({
    item_count: itemCount,
    _links: {
      self: link(page),
      first: { href: url },
      ...(page > 1 && { prev: link(page - 1) }),
      ...(page < last && { next: link(page + 1) }),
      last: link(last),
    },
    _embedded: { events: rows.map((row) => JSON.parse(String(row['json']))) },
  })
})

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`)
})
process.once('SIGTERM', () => {
  server.close()
  if ('closeAllConnections' in server) server.closeAllConnections()
})
