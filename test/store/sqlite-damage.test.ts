import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { Store } from '../../src/store/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { itemsFrom, keyed } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { changeRows } from './sqlite-rows.ts'
import { readItems } from './store-reading.ts'

const PAGE_BYTES = 8192
const TOKEN = { name: 'ci', hash: 'c1', scopes: ['read:events'], createdAt: 1, expiresAt: null, revokedAt: null }
const ONCE = { once: { key: 'request', digest: 'a' } }

/** 1,596 items with 4 holes: three reams and a tail; a token, a request that is remembered, and a sound collection beside. */
async function openFilled(t: TestContext) {
  const opened = await openSqliteForTest()
  t.after(() => opened.remove())
  const { store } = opened
  for (const name of ['events', 'others']) {
    await store.create(name, { keyField: 'id' })
    await store.append(name, keyed(itemsFrom(0, 1600)), name === 'events' ? ONCE : {})
    await store.delete(name, ['1', '2', '600', '1502'])
  }
  await store.addToken(TOKEN)
  return opened
}

const EVENTS = "collection_id = (SELECT id FROM head WHERE name = 'events')"
const page = (number: number) => (store: Store) => store.page('events', number)
const itemOf = (key: string) => (store: Store) => store.item('events', key)
/** In its own place, as a flipped bit would leave it: it sorts right before the next one. */
const CHANGED_KEY = `UPDATE key SET key = '69x' WHERE key = '7' AND ${EVENTS}`
const head = (store: Store) => store.head('events')

/** Changes a column, and not the checksum; `message` is told to whoever then reads. */
const DAMAGES: readonly { what: string; sql: string; read: (store: Store) => Promise<unknown>; message: RegExp }[] = [
  {
    what: 'an item of the tail',
    sql: `UPDATE tail SET item = '{"id":1501,"x":0}' WHERE position = 1501 AND ${EVENTS}`,
    read: page(4),
    message: /"events" is damaged\. The item at position 1501, in the tail, does not match its checksum/,
  },
  {
    what: 'an item of the tail, read by its key',
    sql: `UPDATE tail SET item = '{"id":1501,"x":0}' WHERE position = 1501 AND ${EVENTS}`,
    read: itemOf('1501'),
    message: /"events" is damaged\. The item at position 1501, in the tail, does not match its checksum/,
  },
  {
    what: 'an item of the tail that is missing',
    sql: `DELETE FROM tail WHERE position = 1501 AND ${EVENTS}`,
    read: page(4),
    message: /"events" is damaged\. Its tail has 98 items in the place of 99/,
  },
  {
    what: 'an item of the tail that is missing, read by its key',
    sql: `DELETE FROM tail WHERE position = 1501 AND ${EVENTS}`,
    read: itemOf('1501'),
    message: /"events" is damaged\. The item at position 1501, in the tail, is missing/,
  },
  {
    what: 'the count of a head',
    sql: "UPDATE head SET live = live + 1 WHERE name = 'events'",
    read: head,
    message: /^The store is damaged\. The head of "events" does not match its checksum/,
  },
  {
    what: 'a head whose collection is no longer private',
    sql: "UPDATE head SET private = 1 - private WHERE name = 'events'",
    read: (store) => store.page('events', 1, { isPublicOnly: true }),
    message: /The head of "events" does not match its checksum/,
  },
  {
    what: 'the name of a head',
    sql: "UPDATE head SET name = 'event3' WHERE name = 'events'",
    read: head,
    message: /The head of "event3" does not match its checksum/,
  },
  {
    what: 'a head that is missing',
    sql: "DELETE FROM head WHERE name = 'events'",
    read: head,
    message: /The table "head" has 1 rows in the place of 2/,
  },
  {
    what: 'a head that is missing, in the list of all',
    sql: "DELETE FROM head WHERE name = 'events'",
    read: (store) => store.collections(),
    message: /The table "head" has 1 rows in the place of 2/,
  },
  {
    what: 'the position of a key',
    sql: `UPDATE key SET position = 8 WHERE key = '7' AND ${EVENTS}`,
    read: itemOf('7'),
    message: /"events" is damaged\. The key "7" does not match its checksum/,
  },
  {
    what: 'a key that became another',
    sql: CHANGED_KEY,
    read: itemOf('7'),
    message: /"events" is damaged\. The key "69x" does not match its checksum/,
  },
  {
    what: 'a hole count',
    sql: `UPDATE hole SET gone = gone + 1 WHERE level = 0 AND block = 0 AND ${EVENTS}`,
    read: page(3),
    message: /"events" is damaged\. The hole count of level 0, block 0 does not match its checksum/,
  },
  {
    what: 'a hole count that is missing',
    sql: `DELETE FROM hole WHERE level = 0 AND block = 0 AND ${EVENTS}`,
    read: page(3),
    message: /"events" is damaged\. Its hole counts do not add up/,
  },
  {
    what: 'the bytes of a ream, for a gzip answer',
    sql: `UPDATE ream SET data = zeroblob(length(data)) WHERE number = 1 AND ${EVENTS}`,
    read: (store) => store.page('events', 2, { form: 'deflated' }),
    message: /"events" is damaged\. Ream 1 does not match its checksum/,
  },
  {
    what: 'a ream in the place of another',
    sql: `DELETE FROM ream WHERE number = 0 AND ${EVENTS}; UPDATE ream SET number = 0 WHERE number = 1 AND ${EVENTS}`,
    read: page(1),
    message: /"events" is damaged\. Ream 0 does not match its checksum/,
  },
  {
    what: 'a ream of another collection',
    sql: `DELETE FROM ream WHERE number = 0 AND ${EVENTS};
      UPDATE ream SET collection_id = (SELECT id FROM head WHERE name = 'events') WHERE number = 0`,
    read: page(1),
    message: /"events" is damaged\. Ream 0 does not match its checksum/,
  },
  {
    what: 'the scopes of a token',
    sql: `UPDATE token SET scopes = '["admin"]'`,
    read: (store) => store.token(TOKEN.hash),
    message: /The token "ci" does not match its checksum/,
  },
  {
    what: 'the hash of a token',
    sql: "UPDATE token SET hash = 'c0'",
    read: (store) => store.token(TOKEN.hash),
    message: /The token "ci" does not match its checksum/,
  },
  {
    what: 'a token that is missing',
    sql: 'DELETE FROM token',
    read: (store) => store.token(TOKEN.hash),
    message: /The table "token" has 0 rows in the place of 1/,
  },
  {
    what: 'the answer to a request that is sent again',
    sql: `UPDATE request_log SET outcome = '{}'`,
    read: (store) => store.append('events', keyed(itemsFrom(0, 1600)), ONCE),
    message: /The request that is remembered as "request" does not match its checksum/,
  },
  {
    what: 'the key of a request that is sent again',
    sql: `UPDATE request_log SET key = 'requesu'`,
    read: (store) => store.append('events', keyed(itemsFrom(0, 1600)), ONCE),
    message: /The request that is remembered as "requesu" does not match its checksum/,
  },
]

const isCorrupt = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StoreError)
  assert.equal(error.code, 'corrupt', error.message)
  assert.match(error.message, message)
  return true
}

describe('a store in an SQLite file that is damaged', () => {
  for (const { what, sql, read, message } of DAMAGES)
    it(`says so instead of an answer made of ${what}`, async (t) => {
      const { store, path } = await openFilled(t)
      await read(store)
      changeRows(path, sql)
      await assert.rejects(read(store), isCorrupt(message))
    })

  for (const [what, text, read] of [
    ['an item of the tail', '{"id":"tail","x":0}', page(4)],
    ['the key of an item', 'a key like no other', itemOf('a key like no other')],
    ['the name of a collection', 'events', head],
  ] as const)
    it(`notices one bit of its file: in ${what}`, async (t) => {
      const { store, path, openAgain } = await openFilled(t)
      await store.append('events', keyed(['{"id":"tail","x":0}', '{"id":"a key like no other"}']))
      await store.close()
      const bytes = readFileSync(path)
      for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1))
        bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 4
      writeFileSync(path, bytes)
      const flipped = await openAgain()
      await assert.rejects(read(flipped), isCorrupt(/does not match its checksum/))
      await flipped.close()
    })

  it('notices that two pages of its file have changed places', async (t) => {
    const { store, path, openAgain } = await openFilled(t)
    await store.create('wide')
    await store.append('wide', itemRun(Array.from({ length: 100 }, (_, n) => `{"n":${n},"wide":"${'x'.repeat(500)}"}`)))
    await store.close()
    const bytes = readFileSync(path)
    const pageOf = (n: number) => Math.floor(bytes.indexOf(`{"n":${n},"wide"`) / PAGE_BYTES) * PAGE_BYTES
    const [one, other] = [pageOf(30), pageOf(60)]
    const kept = Buffer.from(bytes.subarray(one, one + PAGE_BYTES))
    bytes.copyWithin(one, other, other + PAGE_BYTES)
    bytes.set(kept, other)
    writeFileSync(path, bytes)
    const swapped = await openAgain()
    await assert.rejects(
      swapped.page('wide', 1),
      isCorrupt(/"wide" is damaged\. The items of its tail are not in order/),
    )
    assert.notDeepEqual((await swapped.verify()).findings, [])
    await swapped.close()
  })

  it('goes on with what is sound', async (t) => {
    const { store, path } = await openFilled(t)
    changeRows(path, `UPDATE tail SET item = '{}' WHERE position = 1501 AND ${EVENTS}`)
    assert.equal((await readItems(store, 'others')).length, 1596)
    for (const number of [1, 2]) assert.equal((await store.page('events', number))?.page, number)
    assert.equal((await store.item('events', 'none'))?.item, undefined)
    await store.append('events', keyed(['{"id":"new"}']))
  })

  const WRITES: readonly { what: string; sql: string; write: (store: Store) => Promise<unknown> }[] = [
    {
      what: 'an append that seals the tail',
      sql: `UPDATE tail SET item = '{"id":1501,"x":0}' WHERE position = 1501 AND ${EVENTS}`,
      write: (store) => store.append('events', keyed(itemsFrom(5000, 500))),
    },
    {
      what: 'an append that seals a tail of which an item is missing',
      sql: `DELETE FROM tail WHERE position = 1501 AND ${EVENTS}`,
      write: (store) => store.append('events', keyed(itemsFrom(5000, 500))),
    },
    {
      what: 'a load that seals the tail',
      sql: `UPDATE tail SET item = '{"id":1501,"x":0}' WHERE position = 1501 AND ${EVENTS}`,
      async write(store) {
        const load = await store.load('events')
        try {
          await load.append(keyed(itemsFrom(5000, 500)))
          await load.commit()
        } catch (error) {
          await load.abort()
          throw error
        }
      },
    },
    {
      what: 'a put into a ream',
      sql: `UPDATE ream SET crc = crc + 1 WHERE number = 0 AND ${EVENTS}`,
      write: (store) => store.put('events', keyed(['{"id":3,"x":0}'])),
    },
    {
      what: 'a deletion by a key that leads elsewhere',
      sql: `UPDATE key SET position = 8 WHERE key = '7' AND ${EVENTS}`,
      write: (store) => store.delete('events', ['7']),
    },
    {
      what: 'a put of a key that was lost',
      sql: CHANGED_KEY,
      write: (store) => store.put('events', keyed(['{"id":7,"x":0}'])),
    },
    {
      what: 'an append of a key that only damage has put in the way',
      sql: CHANGED_KEY,
      write: (store) => store.append('events', keyed(['{"id":"69x"}'])),
    },
    {
      what: 'a deletion that changes a hole count',
      sql: `UPDATE hole SET gone = gone + 1 WHERE level = 2 AND ${EVENTS}`,
      write: (store) => store.delete('events', ['8']),
    },
    {
      what: 'a deletion of an item of the tail that is missing',
      sql: `DELETE FROM tail WHERE position = 1501 AND ${EVENTS}`,
      write: (store) => store.delete('events', ['1501']),
    },
  ]

  for (const { what, sql, write } of WRITES)
    it(`refuses ${what}, so that nothing damaged gets a new checksum`, async (t) => {
      const { store, path } = await openFilled(t)
      changeRows(path, sql)
      const { findings: before } = await store.verify()
      assert.notDeepEqual(before, [])
      await assert.rejects(write(store), isCorrupt(/"events" is damaged/))
      assert.deepEqual((await store.verify()).findings, before)
    })

  it('shows every row that is damaged to verify, and names it', async (t) => {
    const { store, path } = await openFilled(t)
    changeRows(
      path,
      `UPDATE tail SET item = '{}' WHERE position IN (1501, 1503) AND ${EVENTS};
       UPDATE key SET position = 8 WHERE key = '7' AND ${EVENTS};
       UPDATE ream SET crc = crc + 1 WHERE number = 2 AND ${EVENTS};
       UPDATE hole SET gone = gone + 1 WHERE level = 2 AND ${EVENTS};
       UPDATE token SET scopes = '[]';
       UPDATE request_log SET outcome = '{';
       UPDATE head SET live = 0 WHERE name = 'others'`,
    )
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
  })
})
