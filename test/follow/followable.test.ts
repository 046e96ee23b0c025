import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findFollowable } from '../../src/follow/followable.ts'
import { PostgresSession } from '../../src/tables/postgres-session.ts'
import { newSchema, runSql } from '../store/postgres-engine.ts'
import { sharedSource } from './followed-twins.ts'

describe('a key that a table is followed by', () => {
  const source = sharedSource()

  /** The names of the columns, or the reason why they are no key. */
  async function keyOf(keyField: string | undefined, ...indexes: string[]): Promise<string[] | string> {
    const { url } = source()
    const schema = newSchema()
    const definition = ['CREATE TABLE t (a int NOT NULL, b int NOT NULL, c int)', ...indexes]
    await runSql(url, '', [`CREATE SCHEMA ${schema}`, `SET search_path = ${schema}`, ...definition].join(';'))
    const session = new PostgresSession(url, new AbortController().signal)
    try {
      await session.connect()
      const { keyColumns } = await findFollowable(session, { table: `${schema}.t`, keyField })
      return keyColumns.map(({ name }) => name)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      await session.end()
      await runSql(url, '', `DROP SCHEMA ${schema} CASCADE`)
    }
  }

  it('has a unique index on its columns and no others, in any order', async () => {
    assert.deepEqual(await keyOf('a', 'CREATE UNIQUE INDEX ON t (a)'), ['a'])
    assert.deepEqual(await keyOf('a', 'CREATE UNIQUE INDEX ON t (a) INCLUDE (b)'), ['a'])
    assert.deepEqual(await keyOf('b,a', 'CREATE UNIQUE INDEX ON t (a, b)'), ['b', 'a'])
    assert.deepEqual(await keyOf(undefined, 'ALTER TABLE t ADD PRIMARY KEY (b, a)'), ['b', 'a'])
  })

  for (const [keyField, index] of [
    ['a', 'CREATE INDEX ON t (a)'],
    ['a', 'CREATE UNIQUE INDEX ON t (a, b)'],
    ['a,b', 'CREATE UNIQUE INDEX ON t (a)'],
    ['a', 'CREATE UNIQUE INDEX ON t (a) WHERE a > 0'],
    ['a', 'CREATE UNIQUE INDEX ON t ((a + 1))'],
    ['a', 'CREATE UNIQUE INDEX ON t (a, (b + 1))'],
    ['b', 'CREATE UNIQUE INDEX ON t (a) INCLUDE (b)'],
  ] as const)
    it(`is not ${keyField} because of ${index}`, async () => {
      assert.match(String(await keyOf(keyField, index)), /is not known to be unique: there is no unique index on just/)
    })

  it('is never NULL, and is named if there is no primary key', async () => {
    assert.match(String(await keyOf('c', 'CREATE UNIQUE INDEX ON t (c)')), /"c" of .* may be NULL/)
    assert.match(String(await keyOf('d')), /has no column "d" for the key/)
    assert.match(String(await keyOf(undefined)), /has no primary key\. Name columns .* with --key/)
  })
})
