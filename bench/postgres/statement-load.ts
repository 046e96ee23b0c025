/**
 * What a page through HTTP is compared with: the statement that the store sends for it, through `pg` and no more, its
 * answers thrown away. Run as `statement-load.ts PLAN`.
 */

import { Client } from 'pg'
import { shardKeyOf } from '../../src/store/postgres/rows/head.ts'
import { StatementTexts } from '../../src/store/postgres/rows/rows.ts'
import { randomPages } from '../random.ts'
import type { StatementPlan } from './rivals.ts'
import { runClients } from './run-clients.ts'

const plan: StatementPlan = JSON.parse(process.argv[2] ?? '{}')
const text = new StatementTexts(plan.schema, false).of('readParts').text
const shardKey = shardKeyOf(plan.collection)
const order = randomPages(Math.min(plan.pages, 20_000), plan.pages, 6)
let asked = 0

await runClients(plan, async () => {
  const client = new Client(plan.url)
  await client.connect()
  return {
    async ask() {
      const page = order[asked++ % order.length] ?? 1
      const values = [shardKey, plan.collection, `{${page - 1}}`]
      const { rows } = await client.query({ name: 'page', text, values, rowMode: 'array' })
      if (rows.length !== 1) throw new Error(`There is no page ${page} of the collection "${plan.collection}".`)
    },
    end: () => client.end(),
  }
})
