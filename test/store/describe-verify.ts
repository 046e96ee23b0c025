/** What `verify` finds, in every engine: each damage breaks one rule of a collection behind the store's back. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { joinItems } from '../../src/store/ream.ts'
import type { Finding } from '../../src/store/store.ts'
import { itemsFrom, keyed } from './items.ts'
import type { Engine, StoreUnderTest } from './test-store.ts'

type Columns = StoreUnderTest['columns']

interface Damage {
  readonly what: string
  /** `WHERE` and what follows are added: the rows of the collection. It must change something. */
  readonly sql: string | ((columns: Columns) => string)
  /** More of the condition. */
  readonly where?: string
  readonly values?: (string | Uint8Array)[]
  readonly expected: RegExp
}

/** Three reams and a tail, of which four items are gone. */
const DAMAGES: readonly Damage[] = [
  { what: 'a head that counts one too many', sql: 'UPDATE head SET live = live + 1', expected: /head says 1597 items/ },
  { what: 'a ream that is missing', sql: 'DELETE FROM ream', where: 'number = 1', expected: /Ream 1 is missing/ },
  {
    what: 'a ream beyond the head',
    sql: 'UPDATE ream SET number = 7',
    where: 'number = 2',
    expected: /Ream 7 lies beyond/,
  },
  {
    what: 'a wrong checksum',
    sql: 'UPDATE ream SET crc = crc + 1',
    where: 'number = 0',
    expected: /Ream 0 does not inflate/,
  },
  { what: 'a wrong length', sql: 'UPDATE ream SET raw_length = raw_length - 1', expected: /Ream 0 does not inflate/ },
  {
    what: 'damaged bytes',
    sql: 'UPDATE ream SET data = $1',
    where: 'number = 2',
    values: [Buffer.from('ffff', 'hex')],
    expected: /Ream 2 does not inflate/,
  },
  {
    what: 'a ream whose bytes end the stream, which no gzip answer could be made of',
    sql: 'UPDATE ream SET data = $1',
    where: 'number = 2',
    values: [deflateRawSync(joinItems(itemsFrom(1000, 500)))],
    expected: /Ream 2 does not end with a sync flush/,
  },
  {
    what: 'a wrong count in a ream',
    sql: 'UPDATE ream SET count = 400',
    where: 'number = 1',
    expected: /Ream 1 says 400/,
  },
  {
    what: 'a map of what is gone that lies',
    sql: 'UPDATE ream SET gone = NULL',
    where: 'number = 0',
    expected: /Ream 0 says 498 items, but its map has 0/,
  },
  {
    what: 'an item that is no object',
    sql: "UPDATE tail SET item = '[1]'",
    where: 'position = 1500',
    expected: /position 1500 is not a JSON object: \[1\]/,
  },
  {
    what: 'an item that is no JSON',
    sql: "UPDATE tail SET item = '{'",
    where: 'position = 1500',
    expected: /position 1500 is not JSON/,
  },
  {
    what: 'a line break in an item',
    sql: 'UPDATE tail SET item = $1',
    where: 'position = 1500',
    values: ['{\n}'],
    expected: /holds a line break/,
  },
  {
    what: 'a tail item that is missing',
    sql: 'DELETE FROM tail',
    where: 'position = 1550',
    expected: /hole count|head says/,
  },
  {
    what: 'a tail item beyond the head',
    sql: ({ ids, sum }) => `INSERT INTO tail SELECT ${ids}, 1700, item${sum} FROM tail`,
    where: 'position = 1500',
    expected: /Position 1700 in the tail lies beyond/,
  },
  {
    what: 'a tail item in a sealed ream',
    sql: ({ ids, sum }) => `INSERT INTO tail SELECT ${ids}, 3, item${sum} FROM tail`,
    where: 'position = 1500',
    expected: /Position 3 is in the tail, though its ream is sealed/,
  },
  {
    what: 'a key that points elsewhere',
    sql: 'UPDATE key SET position = 7',
    where: "key = '5'",
    expected: /key "5" of the item at position 5 points to position 7/,
  },
  {
    what: 'a key that is missing',
    sql: 'DELETE FROM key',
    where: "key = '1599'",
    expected: /key "1599" of the item at position 1599 is missing/,
  },
  {
    what: 'a key too many',
    sql: ({ ids, sum }) => `INSERT INTO key SELECT ${ids}, 'x', 3${sum} FROM key`,
    where: "key = '3'",
    expected: /1597 keys for 1596 items with a key/,
  },
  {
    what: 'a hole count that is wrong',
    sql: 'UPDATE hole SET gone = 9',
    where: 'level = 1',
    expected: /hole count of level 1, block 0 is 9; 4 are gone/,
  },
  {
    what: 'a hole count that is missing',
    sql: 'DELETE FROM hole',
    where: 'level = 2',
    expected: /hole count of level 2, block 0 is missing/,
  },
  {
    what: 'a hole count too many',
    sql: ({ ids, sum }) => `INSERT INTO hole SELECT ${ids}, 0, 2, 1${sum} FROM hole`,
    where: 'level = 2',
    expected: /level 0, block 2 is 1; 0 are gone/,
  },
  {
    what: 'reams of no collection',
    sql: ({ generation }) => `UPDATE head SET ${generation} = 9`,
    expected: /3 rows of "ream" belong to no collection/,
  },
]

/** Collections with the same items, of which the store then is damaged in each in another way. */
export function describeVerify(engine: Engine): void {
  describe('verify', () => {
    let opened: StoreUnderTest
    let findings: readonly Finding[]
    const nameOf = ({ what }: Damage): string => what.toLowerCase().replaceAll(/\W+/g, '-').slice(0, 60)

    before(async () => {
      opened = await engine.open()
      for (const name of ['sound', ...DAMAGES.map(nameOf)]) {
        await opened.store.create(name, { keyField: 'id' })
        await opened.store.append(name, keyed(itemsFrom(0, 1600)))
        await opened.store.delete(name, ['1', '2', '600', '1502'])
      }
    })
    after(() => opened?.remove())

    it('finds nothing where nothing is damaged, also while loads are running, and tells how far it is', async () => {
      const { store } = opened
      const load = await store.load('sound', { onConflict: 'replace' })
      await load.append(keyed(itemsFrom(1000, 1500)))
      const other = await store.load('venues', { isReplacement: true, settings: { keyField: 'id' } })
      await other.append(keyed(itemsFrom(0, 700)))
      const items = (DAMAGES.length + 1) * 1596
      const seen: number[] = []
      const result = await store.verify((read, total) => {
        assert.equal(total, items)
        seen.push(read)
      })
      assert.deepEqual([result.findings, result.items, seen.at(-1)], [[], items, items])
      await load.commit()
      await other.abort()
      assert.deepEqual((await store.verify()).findings, [])
    })

    it('finds what is damaged, and names the collection', async () => {
      for (const damage of DAMAGES) {
        const { sql, where = 'true', values = [] } = damage
        const statement = typeof sql === 'string' ? sql : sql(opened.columns)
        const own = /^UPDATE head /.test(statement) ? `name = '${nameOf(damage)}'` : opened.rowsOf(nameOf(damage))
        const rows = await opened.execute(`${statement} WHERE ${where} AND ${own} RETURNING 1`, values)
        assert.notDeepEqual(rows, [], damage.what)
      }
      findings = (await opened.store.verify()).findings
      assert.ok(findings.every(({ collection }) => collection !== 'sound'))
    })

    for (const damage of DAMAGES)
      it(`finds ${damage.what}`, () => {
        const own = findings.filter(({ collection }) => collection === '' || collection === nameOf(damage))
        assert.match(own.map(({ message }) => message).join('\n'), damage.expected)
      })
  })
}
