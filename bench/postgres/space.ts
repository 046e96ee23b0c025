/**
 * How much space does a collection in PostgreSQL take while its items are replaced at random? Prints the size of the TOAST table of `ream`
 * and the WAL every ten seconds. Run as `node bench/postgres/space.ts`, for ten minutes unless --minutes says otherwise.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { newSchema, runSql, withParameter } from '../../test/store/postgres-engine.ts'
import { startOwnPostgres } from '../../test/store/postgres-server.ts'
import { eventKey, eventTexts } from '../data.ts'
import { createRandom, type Random } from '../random.ts'

const USAGE = `Usage: node bench/postgres/space.ts [options]

  --minutes N     how long to write (10)
  --items N       items of the collection (200,000)
  --changes N     items of one PATCH (100)
  --writers N     PATCHes at a time (8)
  --postgres URL  a server to use instead of a new PostgreSQL 15 with default settings
`
const LOOK_EVERY_MS = 10_000
const MB = 1e6
const COLLECTION = 'events'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    items: { type: 'string', default: '200000' },
    changes: { type: 'string', default: '100' },
    writers: { type: 'string', default: '8' },
    postgres: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit()
}
const [items, changes, writers] = [Number(values.items), Number(values.changes), Number(values.writers)]

await using resources = new AsyncDisposableStack()
const server = values.postgres ?? (await startServer())
const schema = newSchema()
resources.defer(async () => void (await runSql(server, '', `DROP SCHEMA ${schema} CASCADE`)))
const store = await openPostgresStore({ url: withParameter(server, 'schema', schema), create: true })
resources.defer(() => store.close())

await store.create(COLLECTION, { keyField: 'id' })
const texts = eventTexts(items)
const load = await store.load(COLLECTION)
await load.append(itemRun(texts, { keyField: 'id' }))
await load.commit()

const before = await measure()
let [replaced, sentBytes, peak] = [0, 0, before.toast]
const startedAt = performance.now()
const endsAt = startedAt + Number(values.minutes) * 60_000
const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(createRandom(writer))))
while (performance.now() < endsAt) {
  await sleep(Math.min(LOOK_EVERY_MS, endsAt - performance.now()))
  const { toast, wal } = await measure()
  peak = Math.max(peak, toast)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const columns = [`${seconds} s`, `TOAST ${megabytes(toast)}`, `WAL ${megabytes(wal - before.wal)}`]
  console.log([...columns, `${replaced} items replaced`].join(', '))
}
await writing
const { wal } = await measure()
console.log(`\nTOAST at most ${megabytes(peak)}, ${megabytes(before.toast)} before.`)
const written = wal - before.wal
console.log(
  `WAL: ${Math.round(written / replaced)} bytes an item, ${(written / sentBytes).toFixed(1)} for each byte sent.`,
)

async function startServer(): Promise<string> {
  const postgres = await startOwnPostgres(['fsync=on'], 15)
  resources.defer(() => postgres.stop())
  return postgres.url
}

async function measure(): Promise<{ toast: number; wal: number }> {
  const query = `SELECT pg_relation_size(reltoastrelid), pg_current_wal_lsn() - '0/0'::pg_lsn FROM pg_class
    WHERE oid = '${schema}.ream'::regclass`
  const [row = []] = await runSql(server, '', query)
  return { toast: Number(row[0]), wal: Number(row[1]) }
}

/** Replaces items at random, each by the text of another one. */
async function write(random: Random): Promise<void> {
  while (performance.now() < endsAt) {
    const puts = Array.from({ length: changes }, () => {
      const text = texts[random(items)] ?? ''
      return text.replace(/"id":\d+/, `"id":${eventKey(random(items))}`)
    })
    await store.patch(COLLECTION, { puts: itemRun(puts, { keyField: 'id' }), steps: puts.map(() => null) })
    replaced += changes
    sentBytes += puts.reduce((sum, text) => sum + text.length + 1, 0)
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`
}
