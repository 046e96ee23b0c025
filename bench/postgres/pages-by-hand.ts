/** Pages of a table as one writes them by hand: COUNT(*), and OFFSET. */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import { durationMs } from '../measure.ts'
import type { PostgresWorkspace } from './workspace.ts'

/** They take seconds where rows are many. */
const PAGES = 5

/** Answers how long the rows of a page take, with the count that its links need; one after the other. `item` is what each row gives. */
export async function pagesByHand(
  postgres: PostgresWorkspace,
  table: string,
  item: string,
): Promise<(page: number) => Promise<number[]>> {
  const count = { name: 'count', text: `SELECT count(*) FROM ${table}` }
  const select = { name: 'page', text: `SELECT ${item} FROM ${table} e ORDER BY id LIMIT $1 OFFSET $2` }
  return async (page) => {
    const client = await postgres.connect()
    const durations: number[] = []
    for (let time = 0; time <= PAGES; time++) {
      const duration = await durationMs(async () => {
        await client.query(count)
        await client.query({ ...select, values: [PAGE_SIZE, (page - 1) * PAGE_SIZE] })
      })
      // The first one prepares.
      if (time > 0) durations.push(duration)
    }
    await client.end()
    return durations
  }
}
