/** What do writers gain by sharing the commits of PostgreSQL? */

import { allowWrites } from '../allow-writes.ts'
import { inTurn, median } from '../measure.ts'
import { askPostgres } from '../postgres/ask.ts'
import { appendByHand } from '../postgres/rivals.ts'
import { requestsASecond, runLoad, warmUpOf } from '../running-load.ts'
import { COLLECTION, WRITERS } from '../workspace.ts'

export const PG_APPENDS = askPostgres({
  name: 'pg-appends',
  needs: ['sample'],
  cost: { seconds: 30, secondsAMillion: 0 },
  async run(postgres, workspace) {
    const { rounds, requests, signal } = workspace
    const { path: file } = await workspace.sample()
    const path = postgres.store('appends')
    const token = await allowWrites(path, 'bench', COLLECTION)
    const schema = postgres.schema('appends')
    await postgres.execute(`
      CREATE TABLE ${schema}.hand_head (name text PRIMARY KEY, next bigint NOT NULL) WITH (fillfactor = 10);
      CREATE TABLE ${schema}.hand_item (name text, position bigint, item text NOT NULL, PRIMARY KEY (name, position));
      INSERT INTO ${schema}.hand_head VALUES ('${COLLECTION}', 0)`)
    await using server = await postgres.serve(path)
    workspace.step(`pg-appends: ${WRITERS} clients of Reams, and as many with a transaction an item, in turn`)
    const load = { kind: 'append', file, token, url: `${server.url}/${COLLECTION}`, connections: WRITERS } as const
    const hand = { url: postgres.url, schema, collection: COLLECTION, file, connections: WRITERS }
    const rates = { shared: [] as number[], transaction: [] as number[], statement: [] as number[] }
    await inTurn(rounds, ['shared', 'transaction', 'statement'] as const, async (side, round) => {
      const warmUp = side === 'shared' ? warmUpOf(round, requests) : Math.ceil(requests / 4)
      const size = { warmUp, requests }
      const isOneStatement = side === 'statement'
      const run = () => appendByHand({ ...hand, ...size, isOneStatement }, signal)
      const result = await (side === 'shared' ? runLoad({ ...load, ...size }, signal) : run())
      rates[side].push(requestsASecond(result))
    })
    return [
      {
        measured: `PostgreSQL: appends/s of ${WRITERS} clients through HTTP ÷ of as many through pg, a transaction an item`,
        value: median(rates.shared) / median(rates.transaction),
        required: { atLeast: 4 },
        raw: { appendsASecond: rates.shared, transactionsASecond: rates.transaction },
      },
      {
        measured: 'the same ÷ where each transaction is a single statement',
        value: median(rates.shared) / median(rates.statement),
        better: 'higher',
        raw: { appendsASecond: rates.shared, statementsASecond: rates.statement },
      },
    ]
  },
})
