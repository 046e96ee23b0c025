/** Does what `psql -q URL -c STATEMENT…` does, on machines where there is no psql: `node run-sql.ts URL -c STATEMENT…` */

import { parseArgs } from 'node:util'
import { Client } from 'pg'

const { positionals, values } = parseArgs({
  options: { command: { type: 'string', short: 'c', multiple: true } },
  allowPositionals: true,
})
const client = new Client({ connectionString: positionals[0] })
await client.connect()
for (const statement of values.command ?? []) await client.query(statement)
await client.end()
