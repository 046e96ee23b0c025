/** What `verify` finds, in every engine: each damage breaks one rule of a collection behind the store's back. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { joinItems } from '../../src/store/item-text.ts'
import { QUIRE_SIZE, REAM_SIZE } from '../../src/store/positions.ts'
import { joinQuires, makeQuires, type Quire } from '../../src/store/ream.ts'
import type { Finding } from '../../src/store/store.ts'
import { itemsFrom, keyed } from './items.ts'
import type { RowValues, StoredRows } from './stored-rows.ts'
import type { Engine, StoreUnderTest } from './test-store.ts'

/** Two reams, a quire and a tail, of which three items are gone. */
const TAIL = 2 * REAM_SIZE + QUIRE_SIZE
const COUNT = TAIL + 40
const GONE = ['1', '2', String(TAIL + 2)]
const LIVE = COUNT - GONE.length
/** Changes after these. */
const LAST = COUNT + GONE.length

/** The only quire of the last ream. No gzip answer could be made of one that ends its stream. */
const SLOTS = Array.from({ length: QUIRE_SIZE }, (_, slot) => slot)
const RAW = joinItems(itemsFrom(2 * REAM_SIZE, QUIRE_SIZE))
const [SOUND] = makeQuires(RAW, QUIRE_SIZE, SLOTS, false) as [Quire]
const ENDED = deflateRawSync(RAW)
const NOISE = Buffer.alloc(SOUND.data.length, 255)

const NO_QUIRES = Buffer.alloc((16 * REAM_SIZE) / QUIRE_SIZE)

/** Other bytes for it, with a table that fits them; and quires of so many items behind it. */
function quireOf(data: Uint8Array, ...more: readonly number[]): RowValues {
  const others = more.map((count) => ({ slots: QUIRE_SIZE, count, rawLength: 0, crc: 0, data: new Uint8Array() }))
  const ream = joinQuires([{ ...SOUND, data }, ...others])
  return { data: ream.data, quires: ream.quires }
}

const FIRST = { position: TAIL }

/** Returns how many rows it damages. */
type Break = (rows: StoredRows, collection: string) => Promise<number>

/** What is damaged, how, and a regular expression for what is found. */
type Damage = readonly [what: string, damage: Break, expected: RegExp | string]

function change(table: string, where: RowValues, set: RowValues): Break {
  return (rows, collection) => rows.update(table, collection, where, set)
}

function lose(table: string, where: RowValues): Break {
  return (rows, collection) => rows.delete(table, collection, where)
}

/** Another row like one of the table. */
function repeat(table: string, where: RowValues, set: RowValues): Break {
  return (rows, collection) => rows.copy(table, collection, where, set)
}

const DAMAGES: readonly Damage[] = [
  ['a head that counts too many', change('head', {}, { live: LIVE + 1 }), `head says ${LIVE + 1} items`],
  ['a ream that is missing', lose('ream', { number: 1 }), /Ream 1 is missing/],
  ['a ream beyond the head', change('ream', { number: 1 }, { number: 7 }), /Ream 7 is beyond/],
  ['a wrong checksum', change('ream', { number: 0 }, { crc: 1 }), /quires of ream 0 do not make up/],
  ['a wrong length', change('ream', { number: 0 }, { raw_length: 9 }), /quires of ream 0 do not/],
  ['damaged bytes', change('ream', { number: 1 }, { data: Buffer.from([255, 255]) }), /quires of ream 1 do not/],
  [
    'bytes that cannot be inflated',
    change('ream', { number: 2 }, quireOf(NOISE)),
    /Quire 0 of ream 2 does not inflate/,
  ],
  [
    'bytes that end the stream',
    change('ream', { number: 2 }, quireOf(ENDED)),
    /Quire 0 of ream 2 does not end with a flush/,
  ],
  [
    'a quire more',
    change('ream', { number: 2 }, quireOf(SOUND.data, 0)),
    `ream 2 have ${2 * QUIRE_SIZE} slots instead of ${QUIRE_SIZE}`,
  ],
  ['a table that lies', change('ream', { number: 1 }, { quires: NO_QUIRES }), /quires of ream 1 do not/],
  ['a wrong count in a ream', change('ream', { number: 1 }, { count: 400 }), /Ream 1 has a count of 400/],
  ['a map that lies', change('ream', { number: 0 }, { gone: null }), /Ream 0 has a count of 498, but its bitmap has 0/],
  ['an item that is no object', change('tail', FIRST, { item: '[1]' }), /\d is not a JSON object: \[1\]/],
  ['an item that is no JSON', change('tail', FIRST, { item: '{' }), `position ${TAIL} is not JSON`],
  ['a line break in an item', change('tail', FIRST, { item: '{\n}' }), /holds a line break/],
  ['a tail item that is missing', lose('tail', { position: TAIL + 30 }), /hole count|head says/],
  ['a tail item beyond the head', repeat('tail', FIRST, { position: COUNT }), /\d in the tail is beyond/],
  ['a tail item of a closed quire', repeat('tail', FIRST, { position: 3 }), /3 is in the tail, though its quire is/],
  ['a key to elsewhere', change('key', { key: '5' }, { position: 7 }), /"5" .* at position 5 points to position 7/],
  ['a key that is missing', lose('key', { key: '999' }), /key "999" of the item at position 999 is missing/],
  ['a key too many', repeat('key', { key: '3' }, { key: 'x' }), `${LIVE + 1} keys for ${LIVE} items with a key`],
  ['a hole count that is wrong', change('hole', { level: 1 }, { gone: 9 }), /level 1, block 0 is 9; 3 are gone/],
  ['a hole count that is missing', lose('hole', { level: 2 }), /hole count of level 2, block 0 is missing/],
  [
    'a hole count too many',
    repeat('hole', { level: 2 }, { level: 0, block: 1, gone: 1 }),
    /level 0, block 1 is 1; 0 are gone/,
  ],
  ['a change that is missing', lose('change', { number: COUNT + 1 }), `Change ${COUNT + 1} is missing`],
  ['what a change met', change('change', { number: COUNT }, { before: '[1]' }), /met is not a JSON object/],
  ['a state that is missing', lose('state', { changes: LAST }), /state that it is in is missing/],
  [
    'an altered state',
    change('state', { changes: COUNT }, { live: COUNT + 1 }),
    /changes do not lead to the state of version 2/,
  ],
  ['a change not found by its item', lose('past', { number: COUNT }), `Change ${COUNT} (cannot be found|and the row)`],
  ['a state missing between others', lose('state', { changes: COUNT }), /between the versions 1 and 3 is missing/],
  ['reams of no collection', change('head', {}, { generationId: 9 }), /3 rows of "ream" belong to no collection/],
]

const BEFORE = '^In generation \\d+, which was replaced: '

/** The same for collections that were replaced as a whole since: what is damaged is the generation before. */
const DAMAGES_BEFORE: readonly Damage[] = [
  ['an earlier ream that is missing', lose('ream', { number: 2 }), `${BEFORE}Ream 2 is missing`],
  [
    'an earlier item without JSON',
    change('tail', { position: TAIL + 30 }, { item: '{' }),
    `${BEFORE}.* position ${TAIL + 30} is not JSON`,
  ],
  ['an earlier hole count', change('hole', { level: 1 }, { gone: 9 }), `${BEFORE}.* level 1, block 0 is 9`],
  ['an earlier count', change('replaced', {}, { live: LIVE + 1 }), `${BEFORE}The head says ${LIVE + 1} items`],
  ['a missing generation', lose('replaced', {}), /Generation \d+, which the state of version \d+ has, is missing/],
  ['a missing state before', lose('state', { changes: LAST }), /between the versions 2 and 4 is missing/],
  ['a missing state after', lose('state', { changes: LAST + LIVE }), /between the versions 3 and 5 is missing/],
]

/** Of the damages to an engine that is tested in short. */
const EVERY = 5

/** Collections with the same items, each then damaged in another way. */
export function describeVerify(engine: Engine, { isShort = false } = {}): void {
  const isTried = (_: Damage, index: number) => !isShort || index % EVERY === 0
  const damagesBefore = DAMAGES_BEFORE.filter(isTried)
  const damages = [...DAMAGES.filter(isTried), ...damagesBefore]

  describe('verify', () => {
    let opened: StoreUnderTest
    let findings: readonly Finding[]
    const nameOf = ([what]: Damage): string => what.toLowerCase().replaceAll(' ', '-')

    before(async () => {
      opened = await engine.open()
      const { store } = opened
      for (const name of ['sound', ...damages.map(nameOf)]) {
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, COUNT)))
        await store.delete(name, GONE)
      }
      await store.noteFollowing('sound', { source: 'a table', waiting: 1, asOf: 1, seenAt: 1 })
      for (const name of damagesBefore.map(nameOf)) {
        const load = await store.load(name, { isReplacement: true })
        await load.append(keyed(itemsFrom(0, LIVE - 1)))
        await load.commit()
        await store.append(name, keyed(itemsFrom(LIVE, 1)))
      }
    })
    after(() => opened?.remove())

    it('finds nothing where nothing is damaged, also while loads are running, and tells how far it is', async () => {
      const { store } = opened
      const load = await store.load('sound', { onConflict: 'replace' })
      await load.append(keyed(itemsFrom(1000, 1500)))
      const other = await store.load('venues', { isReplacement: true, settings: { keyField: 'id' } })
      await other.append(keyed(itemsFrom(0, 700)))
      const items = (damages.length + 1) * LIVE
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
      for (const damage of damages)
        assert.ok((await damage[1](opened.rows, nameOf(damage))) > 0, `no row for ${damage[0]}`)
      await opened.rows.update('following', 'sound', {}, { name: 'nobody' })
      findings = (await opened.store.verify()).findings
      assert.ok(findings.every(({ collection }) => collection !== 'sound'))
    })

    it('finds what follows something and is not there', () => {
      const message = 'There is no collection "nobody", and yet it is noted to follow something.'
      assert.ok(findings.some((finding) => finding.message === message))
    })

    for (const damage of damages)
      it(`finds ${damage[0]}`, () => {
        const own = findings.filter(({ collection }) => collection === '' || collection === nameOf(damage))
        assert.ok(
          own.some(({ message }) => new RegExp(damage[2]).test(message)),
          own.map(({ message }) => message).join('\n'),
        )
      })
  })
}
