/**
 * What shared commits are compared with: a transaction an item, as one writes it by hand, with a count that is kept exact.
 * Run as `append-by-hand.ts PLAN`.
 */

import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import type { AppendPlan } from './rivals.ts'
import { runClients } from './run-clients.ts'

const plan: AppendPlan = JSON.parse(process.argv[2] ?? '{}')
const lines = readFileSync(plan.file, 'utf8').split('\n', 2_000)
let sent = 0

/** Whoever moves the head waits for whoever moved it before, as it must be where positions have no gaps. */
const MOVE_HEAD = `UPDATE ${plan.schema}.hand_head SET next = next + 1 WHERE name = $1 RETURNING next`
const INSERT = `INSERT INTO ${plan.schema}.hand_item (name, position, item) VALUES ($1, $2, $3)`
/** The same in one round trip. */
const BOTH = `WITH head AS (${MOVE_HEAD}) INSERT INTO ${plan.schema}.hand_item (name, position, item) SELECT $1, next, $2 FROM head`

await runClients(plan, async () => {
  const client = new Client(plan.url)
  await client.connect()
  const ask = plan.isOneStatement ? () => appendAtOnce(client) : () => append(client)
  return { ask, end: () => client.end() }
})

async function append(client: Client): Promise<void> {
  await client.query('BEGIN')
  const { rows } = await client.query({ name: 'move', text: MOVE_HEAD, values: [plan.collection], rowMode: 'array' })
  await client.query({ name: 'insert', text: INSERT, values: [plan.collection, rows[0]?.[0], nextItem()] })
  await client.query('COMMIT')
}

async function appendAtOnce(client: Client): Promise<void> {
  const { rowCount } = await client.query({ name: 'both', text: BOTH, values: [plan.collection, nextItem()] })
  if (rowCount !== 1) throw new Error('Nothing was appended.')
}

function nextItem(): string {
  return lines[sent++ % lines.length] ?? ''
}
