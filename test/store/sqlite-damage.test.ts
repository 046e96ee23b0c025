import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { item, itemsFrom, keyed } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { changeRows } from './sqlite-rows.ts'
import { readItems } from './store-reading.ts'

const PAGE_BYTES = 8192
const DAY_MS = 24 * 60 * 60 * 1000
const TOKEN = { name: 'ci', hash: 'c1', scopes: ['read:events'], createdAt: 1, expiresAt: null, revokedAt: null }
const ONCE = { once: { key: 'request', digest: 'a' } }
const TABLES = ['head', 'ream', 'tail', 'key', 'hole', 'token', 'request_log', 'row_count']

type Call = (store: Store) => Promise<unknown>

/**
 * What is damaged; SQL that changes rows, and not their checksums; reads that would be made of them, and writes that
 * would give them a new checksum; what each of these answers instead.
 */
type Damage = readonly [what: string, sql: string, calls: readonly Call[], message: RegExp]

const EVENTS = "collection_id = (SELECT id FROM head WHERE name = 'events')"
function page(number: number): Call {
  return (store) => store.page('events', number)
}
function itemOf(key: string): Call {
  return (store) => store.item('events', key)
}
function remove(key: string): Call {
  return (store) => store.delete('events', [key])
}
const head: Call = (store) => store.head('events')
const token: Call = (store) => store.token(TOKEN.hash)
const sendAgain: Call = (store) => store.append('events', keyed(itemsFrom(0, 1600)), ONCE)
const sealTail: Call = (store) => store.append('events', keyed(itemsFrom(5000, 500)))
const loadAndSealTail: Call = async (store) => {
  const load = await store.load('events')
  try {
    await load.append(keyed(itemsFrom(5000, 500)))
    await load.commit()
  } finally {
    await load.abort()
  }
}

function change(text: string): Call {
  return (store) => store.put('events', keyed([text]))
}
function append(text: string): Call {
  return (store) => store.append('events', keyed([text]))
}
const publicPage: Call = (store) => store.page('events', 1, { isPublicOnly: true })
const zippedPage: Call = (store) => store.page('events', 2, { form: 'deflated' })
const collections: Call = (store) => store.collections()

const HEAD = "WHERE name = 'events'"
const TAIL = `WHERE position = 1501 AND ${EVENTS}`
const KEY = `WHERE key = '7' AND ${EVENTS}`
const FIRST_REAM = `DELETE FROM ream WHERE number = 0 AND ${EVENTS};`

const DAMAGES: readonly Damage[] = [
  [
    'an item of the tail',
    `UPDATE tail SET item = '{"id":1501,"x":0}' ${TAIL}`,
    [page(4), itemOf('1501'), sealTail, loadAndSealTail],
    /"events" is damaged\. The item at position 1501, in the tail, does not match its checksum/,
  ],
  [
    'an item of the tail that is missing',
    `DELETE FROM tail ${TAIL}`,
    [page(4), itemOf('1501'), sealTail, remove('1501')],
    /"events" is damaged\. (Its tail has 98 items in the place of 99|.* 1501, in the tail, is missing)/,
  ],
  [
    'a count',
    `UPDATE head SET live = live + 1 ${HEAD}`,
    [head],
    /^The store is damaged\. The head of "events" does not/,
  ],
  ['privacy', `UPDATE head SET private = 1 - private ${HEAD}`, [publicPage], /The head of "events" does not match/],
  ['a name', `UPDATE head SET name = 'event3' ${HEAD}`, [head], /The head of "event3" does not match its checksum/],
  ['a head that is missing', `DELETE FROM head ${HEAD}`, [head, collections], /"head" has 1 rows in the place of 2/],
  [
    'the position of a key',
    `UPDATE key SET position = 8 ${KEY}`,
    [itemOf('7'), remove('7')],
    /"events" is damaged\. The key "7" does not match its checksum/,
  ],
  [
    'a key that became another',
    // In its own place, as a flipped bit would leave it: it sorts right before the next one.
    `UPDATE key SET key = '69x' ${KEY}`,
    [itemOf('7'), change('{"id":7,"x":0}'), append('{"id":"69x"}')],
    /"events" is damaged\. The key "69x" does not match its checksum/,
  ],
  [
    'hole counts',
    `UPDATE hole SET gone = gone + 1 WHERE ${EVENTS}`,
    [page(3), remove('8')],
    /"events" is damaged\. The hole count of level \d, block 0 does not match its checksum/,
  ],
  [
    'a hole count that is missing',
    `DELETE FROM hole WHERE level = 0 AND block = 0 AND ${EVENTS}`,
    [page(3)],
    /"events" is damaged\. Its hole counts do not add up/,
  ],
  [
    'the bytes of a ream',
    `UPDATE ream SET data = zeroblob(length(data)) WHERE number = 1 AND ${EVENTS}`,
    [page(2), zippedPage, change('{"id":700,"x":0}')],
    /"events" is damaged\. Ream 1 does not match its checksum/,
  ],
  [
    'a ream in the place of another',
    `${FIRST_REAM} UPDATE ream SET number = 0 WHERE number = 1 AND ${EVENTS}`,
    [page(1)],
    /"events" is damaged\. Ream 0 does not match its checksum/,
  ],
  [
    'a ream of another collection',
    `${FIRST_REAM} UPDATE ream SET collection_id = (SELECT id FROM head ${HEAD}) WHERE number = 0`,
    [page(1)],
    /"events" is damaged\. Ream 0 does not match its checksum/,
  ],
  ['scopes of a token', `UPDATE token SET scopes = '["admin"]'`, [token], /The token "ci" does not match its checksum/],
  ['the hash of a token', "UPDATE token SET hash = 'c0'", [token], /The token "ci" does not match its checksum/],
  ['a token that is missing', 'DELETE FROM token', [token], /The table "token" has 0 rows in the place of 1/],
  [
    'a remembered answer',
    `UPDATE request_log SET outcome = '{}'`,
    [sendAgain],
    /remembered as "request" does not match/,
  ],
  ['a remembered key', `UPDATE request_log SET key = 'requesu'`, [sendAgain], /remembered as "requesu" does not match/],
]

const corrupt = (message: RegExp) => ({ name: 'StoreError', code: 'corrupt', message })

describe('a store in an SQLite file that is damaged', () => {
  let opened: Awaited<ReturnType<typeof openSqliteForTest>>
  let pristine: string
  let files = 0

  /** 1,596 items with 4 holes: three reams and a tail; a token, a request that is remembered, and a sound collection beside. */
  before(async () => {
    opened = await openSqliteForTest()
    const { store, path } = opened
    for (const name of ['events', 'others']) {
      await store.create(name, { keyField: 'id' })
      await store.append(name, keyed(itemsFrom(0, 1600)), name === 'events' ? ONCE : {})
      await store.delete(name, ['1', '2', '600', '1502'])
    }
    await store.addToken(TOKEN)
    pristine = `${path}.pristine`
    changeRows(path, `VACUUM INTO '${pristine}'`)
  })
  after(() => opened.remove())

  /** Damages the store, and puts every row back at the end. */
  const whileDamaged = async (sql: string, use: Call): Promise<void> => {
    const { store, path } = opened
    changeRows(path, sql)
    const restored = TABLES.map(
      (table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM pristine.${table};`,
    )
    const restore = `ATTACH '${pristine}' AS pristine; BEGIN; ${restored.join('\n')} COMMIT`
    await use(store).finally(() => changeRows(path, restore))
  }

  for (const [what, sql, calls, message] of DAMAGES)
    it(`refuses what would be made of ${what}, and gives nothing damaged a new checksum`, async () => {
      await whileDamaged(sql, async (store) => {
        const { findings } = await store.verify()
        assert.notDeepEqual(findings, [])
        for (const call of calls) await assert.rejects(call(store), corrupt(message))
        assert.deepEqual((await store.verify()).findings, findings)
      })
      assert.deepEqual((await opened.store.verify()).findings, [])
    })

  it('goes on with what is sound', () =>
    whileDamaged(`UPDATE tail SET item = '{}' WHERE position = 1501 AND ${EVENTS}`, async (store) => {
      assert.equal((await readItems(store, 'others')).length, 1596)
      for (const number of [1, 2]) assert.equal((await store.page('events', number))?.page, number)
      assert.equal((await store.item('events', 'none'))?.item, undefined)
      await store.append('events', keyed(['{"id":"new"}']))
    }))

  it('shows every row that is damaged to verify, and names it', () =>
    whileDamaged(
      `UPDATE tail SET item = '{}' WHERE position IN (1501, 1503) AND ${EVENTS};
       UPDATE key SET position = 8 WHERE key = '7' AND ${EVENTS};
       UPDATE ream SET crc = crc + 1 WHERE number = 2 AND ${EVENTS};
       UPDATE hole SET gone = gone + 1 WHERE level = 2 AND ${EVENTS};
       UPDATE token SET scopes = '[]';
       UPDATE request_log SET outcome = '{';
       UPDATE head SET live = 0 WHERE name = 'others'`,
      async (store) => {
        const { findings } = await store.verify()
        const shown = findings.map(({ collection, message }) => `${collection}: ${message}`)
        for (const expected of [
          'events: The item at position 1501, in the tail, does not match its checksum.',
          'events: The item at position 1503, in the tail, does not match its checksum.',
          'events: The key "7" does not match its checksum.',
          'events: Ream 2 does not match its checksum.',
          'events: The hole count of level 2, block 0 does not match its checksum.',
          ': The token "ci" does not match its checksum.',
          ': The request that is remembered as "request" does not match its checksum.',
          ': The head of "others" does not match its checksum.',
        ])
          assert.ok(shown.includes(expected), `${expected}\n${shown.join('\n')}`)
      },
    ))

  /** Changes the bytes of a copy of the file, and opens it. */
  const withBytes = async (change: (bytes: Buffer) => void, use: Call): Promise<void> => {
    const path = `${pristine}.${++files}`
    const bytes = readFileSync(pristine)
    change(bytes)
    writeFileSync(path, bytes)
    const store = await openSqliteStore({ path })
    await use(store).finally(() => store.close())
  }

  describe('in single bits or pages', () => {
    before(async () => {
      const writable = await openSqliteStore({ path: pristine })
      await writable.create('wide')
      const wide = Array.from({ length: 100 }, (_, n) => `{"n":${n},"wide":"${'x'.repeat(500)}"}`)
      await writable.append('wide', itemRun(wide))
      await writable.close()
    })

    it('notices that two pages of its file have changed places', () =>
      withBytes(
        (bytes) => {
          const pageOf = (n: number) => Math.floor(bytes.indexOf(`{"n":${n},"wide"`) / PAGE_BYTES) * PAGE_BYTES
          const [one, other] = [pageOf(30), pageOf(60)]
          const kept = Buffer.from(bytes.subarray(one, one + PAGE_BYTES))
          bytes.copyWithin(one, other, other + PAGE_BYTES)
          bytes.set(kept, other)
        },
        async (store) => {
          const message = /"wide" is damaged\. The items of its tail are not in order/
          await assert.rejects(store.page('wide', 1), corrupt(message))
          assert.notDeepEqual((await store.verify()).findings, [])
        },
      ))

    it('forgets no request because one bit of the index by age makes it look old', () =>
      withBytes(
        (bytes) => {
          // Only the index has the time right before the key; it takes six bytes.
          const places = [...bytes.toString('latin1').matchAll(/request/g)].map(({ index }) => index)
          const flipped = places.filter((at) => {
            const time = bytes.readUIntBE(at - 6, 6)
            return time > Date.now() - DAY_MS && time <= Date.now()
          })
          assert.equal(flipped.length, 1)
          for (const at of flipped) bytes[at - 6] = 0
        },
        async (store) => {
          await store.append('events', keyed([item(7000)]), { once: { key: 'another', digest: 'b' } })
          await sendAgain(store)
          assert.equal((await store.head('events'))?.live, 1597)
        },
      ))
  })
})
