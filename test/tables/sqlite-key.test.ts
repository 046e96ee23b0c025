import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { openSqliteTable } from '../../src/tables/sqlite.ts'
import { workDirectory } from '../cli/run-cli.ts'

it('a primary key has its columns in its own order, whatever that of the table is', async (t) => {
  const path = join(workDirectory(t), 'shop.db')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE sales (day, shop, total, PRIMARY KEY (shop, day))')
  database.close()
  await using table = await openSqliteTable(path, { table: 'sales' }, t.signal)
  assert.deepEqual(table.primaryKey, ['shop', 'day'])
})
