import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { QUIRE_SIZE, REAM_SIZE } from '../../src/store/positions.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { changeRows } from './sqlite-rows.ts'
import { readAllPages, readItems } from './store-reading.ts'

const PAGE_BYTES = 8192
/** The first byte of a page of SQLite that lies at the bottom of the tree of a table WITHOUT ROWID. */
const LEAF = 10
const DAY_MS = 24 * 60 * 60 * 1000
const TOKEN = { name: 'ci', hash: 'c1', scopes: ['read:events'], createdAt: 1, expiresAt: null, revokedAt: null }
const ONCE = { once: { key: 'request', digest: 'a' } }
/** Behind three reams and a quire: the fourth ream is begun. */
const TAIL_START = 3 * REAM_SIZE + QUIRE_SIZE
const TAIL_ITEM = TAIL_START + 1
const COUNT = TAIL_START + 40
const GONE = ['1', '2', '600', String(TAIL_START + 2)]
const LIVE = COUNT - GONE.length
const TABLES = ['head', 'ream', 'tail', 'key', 'hole', 'token', 'request_log', 'following', 'row_count']

type Call = (store: Store) => Promise<unknown>

const page =
  (number: number): Call =>
  (store) =>
    store.page('events', number)
const itemOf =
  (key: string): Call =>
  (store) =>
    store.item('events', key)
const remove =
  (key: string): Call =>
  (store) =>
    store.delete('events', [key])
const put =
  (text: string): Call =>
  (store) =>
    store.put('events', keyed([text]))
const append =
  (...texts: string[]): Call =>
  (store) =>
    store.append('events', keyed(texts))
const head: Call = (store) => store.head('events')
const token: Call = (store) => store.token(TOKEN.hash)
const publicPage: Call = (store) => store.page('events', 1, { isPublicOnly: true })
const zippedPage: Call = (store) => store.page('events', 2, { form: 'deflated' })
const collections: Call = (store) => store.collections()
const followings: Call = (store) => store.followings()
const sendAgain: Call = (store) => store.append('events', keyed(itemsFrom(0, COUNT)), ONCE)
const sealTail = append(...itemsFrom(5000, 500))
const loadAndSealTail: Call = async (store) => {
  const load = await store.load('events')
  try {
    await load.append(keyed(itemsFrom(5000, 500)))
    await load.commit()
  } finally {
    await load.abort()
  }
}

/**
 * What is damaged; SQL that changes rows, and not their checksums; reads that would be made of them, and writes that
 * would give them a new checksum; what each of these answers instead, and verify too unless it says something else.
 */
type Damage = readonly [what: string, sql: string, calls: readonly Call[], message: RegExp, found?: RegExp]

const EVENTS = "collection_id = (SELECT id FROM head WHERE name = 'events')"
const HEAD = "WHERE name = 'events'"
const TAIL = `WHERE position = ${TAIL_ITEM} AND ${EVENTS}`
const KEY = `WHERE key = '7' AND ${EVENTS}`
const FIRST_REAM = `DELETE FROM ream WHERE number = 0 AND ${EVENTS};`
const ALIEN_REAM = `UPDATE ream SET collection_id = (SELECT id FROM head ${HEAD}) WHERE number = 0`
const SECOND_AS_FIRST = `${FIRST_REAM} UPDATE ream SET number = 0 WHERE number = 1 AND ${EVENTS}`
const WRONG_HOLES = `UPDATE hole SET gone = gone + 1 WHERE ${EVENTS}`
const NO_REAM = `UPDATE ream SET data = zeroblob(length(data)) WHERE number = 1 AND ${EVENTS}`

const TAIL_CALLS = [page(4), itemOf(String(TAIL_ITEM)), sealTail]
const GAP = /tail has 38 items instead of 39|\d, in the tail, is missing/
const LIVE_IN_HEAD = new RegExp(`The head says ${LIVE}`)
const WRONG_KEY = /The key "7" does not match its checksum/
// In its own place, as a flipped bit would leave it: it sorts right before the next one.
const OTHER_KEY = [itemOf('7'), put('{"id":7,"x":0}'), append('{"id":"69x"}')]

const DAMAGES: readonly Damage[] = [
  [
    'an item',
    `UPDATE tail SET item = '{"id":${TAIL_ITEM},"x":0}' ${TAIL}`,
    [...TAIL_CALLS, loadAndSealTail],
    new RegExp(`${TAIL_ITEM}, in the tail, does not`),
  ],
  ['a missing item', `DELETE FROM tail ${TAIL}`, [...TAIL_CALLS, remove(String(TAIL_ITEM))], GAP, LIVE_IN_HEAD],
  ['a count', `UPDATE head SET live = live + 1 ${HEAD}`, [head], /The head of "events" does not match/],
  ['privacy', `UPDATE head SET private = 1 - private ${HEAD}`, [publicPage], /The head of "events" does not match/],
  ['a name', `UPDATE head SET name = 'event3' ${HEAD}`, [head], /The head of "event3" does not match its checksum/],
  ['a missing head', `DELETE FROM head ${HEAD}`, [head, collections], /"head" has 1 rows instead of 2/],
  ['where a key leads', `UPDATE key SET position = 8 ${KEY}`, [itemOf('7'), remove('7')], WRONG_KEY],
  ['another key', `UPDATE key SET key = '69x' ${KEY}`, OTHER_KEY, /The key "69x" does not match its checksum/],
  ['hole counts', WRONG_HOLES, [page(3), remove('8')], /level \d, block 0 does not match/],
  [
    'a missing hole count',
    `DELETE FROM hole WHERE level = 0 AND block = 0 AND ${EVENTS}`,
    [page(3)],
    /hole counts do not add up/,
    /The hole count of level 0, block 0 is missing/,
  ],
  ['bytes of a ream', NO_REAM, [page(2), zippedPage, put('{"id":700,"x":0}')], /Ream 1 does not match its checksum/],
  [
    'the lengths of quires',
    `UPDATE ream SET quires = zeroblob(length(quires)) WHERE number = 1 AND ${EVENTS}`,
    [page(2), zippedPage, itemOf('700'), put('{"id":700,"x":0}')],
    /Ream 1 does not match its checksum/,
  ],
  [
    'the bytes of a ream that is begun',
    `UPDATE ream SET data = zeroblob(length(data)) WHERE number = 3 AND ${EVENTS}`,
    [page(4), itemOf(String(TAIL_START - 1)), put(`{"id":${TAIL_START - 1},"x":0}`), sealTail, loadAndSealTail],
    /Ream 3 does not match its checksum/,
  ],
  ['a ream in the place of another', SECOND_AS_FIRST, [page(1)], /Ream 0 does not match/],
  ['a ream of another collection', `${FIRST_REAM} ${ALIEN_REAM}`, [page(1)], /Ream 0 does not match its checksum/],
  ['scopes of a token', `UPDATE token SET scopes = '["admin"]'`, [token], /The token "ci" does not match its checksum/],
  ['the hash of a token', "UPDATE token SET hash = 'c0'", [token], /The token "ci" does not match its checksum/],
  ['a missing token', 'DELETE FROM token', [token], /The table "token" has 0 rows instead of 1/],
  ['what is followed', 'UPDATE following SET waiting = 8', [followings], /What "events" follows does not match/],
  ['a remembered answer', `UPDATE request_log SET outcome = '{}'`, [sendAgain], /remembered as "request" does not/],
  ['a remembered key', `UPDATE request_log SET key = 'requesu'`, [sendAgain], /remembered as "requesu" does not/],
]

const NAMED = /^StoreError: The (collection "events"|store) is damaged\. /

const corrupt = (message: RegExp) => ({ name: 'StoreError', code: 'corrupt', message })

describe('a store in an SQLite file that is damaged', () => {
  let opened: Awaited<ReturnType<typeof openSqliteForTest>>
  let pristine: string
  let files = 0

  /** Four holes, in three reams, one that is begun, and a tail; a token, a request that is remembered, and a sound collection beside. */
  before(async () => {
    opened = await openSqliteForTest()
    const { store, path } = opened
    for (const name of ['events', 'others']) {
      await store.create(name, { keyField: 'id' })
      await store.append(name, keyed(itemsFrom(0, COUNT)), name === 'events' ? ONCE : {})
      await store.delete(name, GONE)
    }
    await store.addToken(TOKEN)
    await store.noteFollowing('events', { source: 'events in a database', waiting: 7, asOf: 1, seenAt: 2 })
    pristine = `${path}.pristine`
    changeRows(path, `VACUUM INTO '${pristine}'`)
  })
  after(() => opened.remove())

  /** Damages the store for somebody who has just opened it, and puts every row back at the end. */
  const whileDamaged = async (sql: string, use: Call): Promise<void> => {
    const { path } = opened
    const store = await opened.openAgain()
    changeRows(path, sql)
    const restored = TABLES.map(
      (table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM pristine.${table};`,
    )
    const restore = `ATTACH '${pristine}' AS pristine; BEGIN; ${restored.join('\n')} COMMIT`
    try {
      await use(store).finally(() => changeRows(path, restore))
      // Nothing of the damage is remembered.
      await readAllPages(store, 'events')
    } finally {
      await store.close()
    }
  }

  for (const [what, sql, calls, message, found = message] of DAMAGES)
    it(`refuses what would be made of ${what}, and gives nothing damaged a new checksum`, async () => {
      await whileDamaged(sql, async (store) => {
        const { findings } = await store.verify()
        assert.match(findings.map((finding) => finding.message).join('\n'), found)
        for (const call of calls)
          await assert.rejects(call(store), (error) => isError('corrupt', message)(error) && NAMED.test(String(error)))
        assert.deepEqual((await store.verify()).findings, findings)
      })
    })

  it('is sound again when all of that was undone', async () => {
    assert.deepEqual((await opened.store.verify()).findings, [])
  })

  it('goes on with what is sound', () =>
    whileDamaged(`UPDATE tail SET item = '{}' WHERE position = ${TAIL_ITEM} AND ${EVENTS}`, async (store) => {
      assert.equal((await readItems(store, 'others')).length, LIVE)
      for (const number of [1, 2]) assert.equal((await store.page('events', number))?.page, number)
      assert.equal((await store.item('events', 'none'))?.item, undefined)
      await store.append('events', keyed(['{"id":"new"}']))
    }))

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
      const wide = Array.from({ length: QUIRE_SIZE - 1 }, (_, n) => `{"n":${n},"wide":"${'x'.repeat(1000)}"}`)
      await writable.append('wide', itemRun(wide))
      await writable.close()
    })

    it('notices that two pages of its file have changed places', () =>
      withBytes(
        (bytes) => {
          const pageOf = (n: number) => Math.floor(bytes.indexOf(`{"n":${n},"wide"`) / PAGE_BYTES) * PAGE_BYTES
          const pages = new Set(Array.from({ length: QUIRE_SIZE - 1 }, (_, n) => pageOf(n)))
          const [, one = 0, other = 0] = [...pages].filter((at) => bytes[at] === LEAF)
          const kept = Buffer.from(bytes.subarray(one, one + PAGE_BYTES))
          bytes.copyWithin(one, other, other + PAGE_BYTES)
          bytes.set(kept, other)
        },
        async (store) => {
          const message = /"wide" is damaged\. Rows of the table "tail" are not in order/
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
          assert.equal((await store.head('events'))?.live, LIVE + 1)
        },
      ))
  })
})
