/** The specification of Store: every engine runs this suite, whole, against the real thing. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, crc32, inflateRawSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import type { Head, LoadOptions, Segment, Store } from '../../src/store/store.ts'
import { describeStoreCompact } from './describe-store-compact.ts'
import { describeStoreConcurrency } from './describe-store-concurrency.ts'
import { describeStoreModel } from './describe-store-model.ts'
import { describeStoreWrites } from './describe-store-writes.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { pagesOf, readAllPages, readItems, readPageTexts, textsOf } from './store-reading.ts'

export interface StoreUnderTest {
  readonly store: Store
  /** Opens the same data once more, as another process would. */
  openAgain(): Promise<Store>
  remove(): Promise<void>
}

export interface Engine {
  open(): Promise<StoreUnderTest>
}

const BOUNDARY_SIZES = [0, 1, 499, 500, 501, 999, 1000, 1001, 1499, 1500]

export { itemsFrom } from './items.ts'

export function describeStore(engineName: string, engine: Engine): void {
  describe(`store: ${engineName}`, () => {
    let opened: StoreUnderTest
    let store: Store
    let names = 0
    const newName = (): string => `collection-${++names}`

    before(async () => {
      opened = await engine.open()
      store = opened.store
    })
    after(async () => {
      await opened.remove()
    })

    const check = async (name: string, texts: readonly string[]): Promise<Head> => {
      const head = await store.head(name)
      assert.ok(head)
      assert.equal(head.live, texts.length)
      assert.deepEqual(await readAllPages(store, name), pagesOf(texts))
      assert.deepEqual(await readItems(store, name), texts)
      return head
    }
    const load = async (name: string, texts: readonly string[], options: LoadOptions = {}) => {
      const running = await store.load(name, options)
      const { keyField } = running.settings
      const runs: Promise<void>[] = []
      for (let start = 0; start < texts.length; start += 300)
        runs.push(running.append(itemRun(texts.slice(start, start + 300), { keyField })))
      await Promise.all(runs)
      return running.commit()
    }

    describe('collections', () => {
      it('begins without any', async () => {
        assert.deepEqual(await store.collections(), [])
      })

      it('creates an empty collection with one empty page', async () => {
        const name = newName()
        const head = await store.create(name)
        assert.equal(head.live, 0)
        assert.deepEqual(
          { ...head, id: 0 },
          { ...head, name, id: 0, keyField: null, isPaginated: true, isPrivate: false },
        )
        await check(name, [])
      })

      it('refuses a name that is taken and one that breaks the rule', async () => {
        const name = newName()
        await store.create(name)
        await assert.rejects(store.create(name), isError('collection-exists'))
        for (const wrong of ['', 'Events', 'a/b', '-a', '@a', 'a b', 'x'.repeat(65)])
          await assert.rejects(store.create(wrong), isError('invalid-name'))
      })

      it('lists collections by name, from one snapshot', async () => {
        const listed = (await store.collections()).map((head) => head.name)
        assert.deepEqual(listed, [...listed].sort())
      })

      it('says when each collection was last changed, which a load moves only at its end', async () => {
        const name = newName()
        const changedAt = async () => {
          await sleep(5)
          return (await store.collections()).find((head) => head.name === name)?.changedAt ?? assert.fail('no time')
        }
        await store.create(name)
        const made = await changedAt()
        const running = await store.load(name)
        await running.append(itemRun(itemsFrom(0, 600)))
        assert.equal(await changedAt(), made)
        await running.commit()
        const loaded = await changedAt()
        assert.ok(loaded > made)
        await (await store.load(name)).abort()
        assert.equal(await changedAt(), loaded)
        await store.append(name, itemRun(itemsFrom(600, 1)))
        assert.ok((await changedAt()) > loaded)
      })

      it('gives a collection that was dropped and created again another id', async () => {
        const name = newName()
        const first = await store.create(name)
        await store.append(name, itemRun(itemsFrom(0, 1200)))
        await store.drop(name)
        assert.equal(await store.head(name), undefined)
        assert.equal(await store.page(name, 1), undefined)
        const second = await store.create(name)
        assert.notEqual(second.id, first.id)
        await check(name, [])
      })

      it('changes private and nothing else', async () => {
        const name = newName()
        const created = await store.create(name, { keyField: 'id' })
        const { version } = created
        const made = await store.setPrivate(name, true)
        assert.deepEqual(made, { ...created, isPrivate: true, version: version + 1, commitId: made.commitId })
        const again = await store.setPrivate(name, false)
        assert.deepEqual(again, { ...created, version: version + 2, commitId: again.commitId })
      })

      it('hides what is private from those who ask for what is public, from the first read on', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, itemRun([item(1)], { keyField: 'id' }))
        const onlyPublic = { isPublicOnly: true }
        const isSeen = async () => [
          (await store.page(name, 1, onlyPublic)) !== undefined,
          (await store.item(name, '1', onlyPublic)) !== undefined,
        ]
        await store.setPrivate(name, true)
        assert.deepEqual(await isSeen(), [false, false])
        await store.setPrivate(name, false)
        assert.deepEqual(await isSeen(), [true, true])
        await store.setPrivate(name, true)
        assert.deepEqual(await isSeen(), [false, false])
        assert.notEqual(await store.page(name, 1), undefined)
        assert.equal(await store.page('nope', 1, onlyPublic), undefined)
        assert.equal(await store.item('nope', '1', onlyPublic), undefined)
      })

      it('says that a collection does not exist, in every write', async () => {
        const run = itemRun([item(1)])
        for (const write of [
          () => store.append('nope', run),
          () => store.replace('nope', run),
          () => store.delete('nope', ['1']),
          () => store.drop('nope'),
          () => store.setPrivate('nope', true),
        ])
          await assert.rejects(write(), isError('no-collection'))
        assert.equal(await store.head('nope'), undefined)
        assert.equal(await store.item('nope', '1'), undefined)
        await assert.rejects(readItems(store, 'nope'), isError('no-collection'))
      })
    })

    describe('appending', () => {
      for (const size of BOUNDARY_SIZES)
        it(`serves ${size} items that were appended at once`, async () => {
          const name = newName()
          await store.create(name)
          const texts = itemsFrom(0, size)
          if (size > 0) await store.append(name, itemRun(texts))
          await check(name, texts)
        })

      it('fills the tail from any size to any size', async () => {
        for (const first of [1, 250, 499, 500]) {
          for (const second of [1, 249, 250, 500, 501, 1100]) {
            const name = newName()
            await store.create(name, { keyField: 'id' })
            await store.append(name, keyed(itemsFrom(0, first)))
            await store.append(name, keyed(itemsFrom(first, second)))
            await check(name, itemsFrom(0, first + second))
          }
        }
      })

      it('raises the version with every commit, and draws a commit id', async () => {
        const name = newName()
        const heads = [await store.create(name)]
        for (let count = 1; count <= 3; count++) heads.push(await store.append(name, itemRun(itemsFrom(count, count))))
        heads.push(await store.setPrivate(name, true))
        assert.deepEqual(await store.head(name), heads.at(-1))
        const [first = 0] = heads.map(({ version }) => version)
        assert.deepEqual(
          heads.map(({ version }) => version - first),
          [0, 1, 2, 3, 4],
        )
        assert.equal(new Set(heads.map(({ commitId }) => commitId)).size, heads.length)
      })

      it('has another id for the full pages only when it fills one', async () => {
        const name = newName()
        const created = await store.create(name)
        const ids = [created.fullPagesId]
        for (const count of [1, 498, 1, 1, 498, 700]) {
          const { fullPagesId } = await store.append(name, itemRun(itemsFrom(0, count)))
          ids.push(fullPagesId)
        }
        const [none, , , one, , , more] = ids
        assert.deepEqual(ids, [none, none, none, one, one, one, more])
        assert.equal(new Set([none, one, more]).size, 3)
        assert.equal((await store.setPrivate(name, true)).fullPagesId, more)
      })

      it('changes nothing when there is nothing to append', async () => {
        for (const keyField of [null, 'id']) {
          const name = newName()
          await store.create(name, { keyField })
          const before = await store.append(name, itemRun(itemsFrom(0, 3), { keyField }))
          assert.deepEqual(await store.append(name, itemRun([], { keyField })), before)
          assert.deepEqual(await check(name, itemsFrom(0, 3)), before)
        }
      })

      it('refuses a key that is there already, and keeps nothing of that call', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        const before = await store.append(name, keyed(itemsFrom(0, 700)))
        await assert.rejects(store.append(name, keyed([...itemsFrom(1000, 600), item(3)])), (error: unknown) => {
          assert.ok(isError('key-conflict')(error))
          assert.deepEqual(
            { ...(error as object) },
            { code: 'key-conflict', name: 'ItemConflict', index: 600, key: '3' },
          )
          return true
        })
        await assert.rejects(store.append(name, keyed([item(2000), item(2000)])), isError('key-conflict'))
        assert.deepEqual(await store.head(name), before)
        await check(name, itemsFrom(0, 700))
        assert.equal((await store.item(name, '1000'))?.item, undefined)
      })

      it('refuses items without their keys for a collection that has one', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 3)))
        const without = itemRun([item(7)])
        await assert.rejects(store.append(name, without), isError('no-key-field'))
        await assert.rejects(store.replace(name, without), isError('no-key-field'))
        const running = await store.load(name)
        await assert.rejects(running.append(without), isError('no-key-field'))
        await running.abort()
        await check(name, itemsFrom(0, 3))
      })

      it('lets appends that wait together succeed or fail alone', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        const outcomes = await Promise.allSettled(
          Array.from({ length: 60 }, (_, index) => store.append(name, keyed([item(index % 50)]))),
        )
        assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 50)
        await check(name, itemsFrom(0, 50))
      })

      it('refuses the 10,001st item of an unpaginated collection', async () => {
        const name = newName()
        await store.create(name, { isPaginated: false })
        const texts = itemsFrom(0, 10_000)
        await store.append(name, itemRun(texts))
        await assert.rejects(store.append(name, itemRun([item(1)])), isError('unpaginated-full'))
        await assert.rejects(load(name, [item(1)]), isError('unpaginated-full'))
        const read = await store.page(name, 7)
        assert.ok(read)
        assert.equal(read.page, 0)
        assert.deepEqual(textsOf(read), texts)
      })
    })

    describe('pages', () => {
      it('answers a page beyond the last with the last', async () => {
        const name = newName()
        await store.create(name)
        await store.append(name, itemRun(itemsFrom(0, 1001)))
        for (const page of [3, 4, 1000, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
          const read = await store.page(name, page)
          assert.equal(read?.page, 3)
          assert.deepEqual(await readPageTexts(store, name, page), [item(1000)])
        }
      })

      it('refuses a page before the first', async () => {
        const name = newName()
        await store.create(name)
        for (const page of [0, -1, Number.NaN]) await assert.rejects(store.page(name, page), RangeError)
      })

      it('gives every segment in two forms that agree with its length, count and checksum', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 1700)))
        await store.delete(name, ['3', '700', '1650'])
        for (const page of [1, 2, 3, 4]) {
          const read = await store.page(name, page)
          assert.ok(read)
          for (const segment of read.segments) {
            const raw = Buffer.from(segment.raw())
            assert.equal(raw.length, segment.rawLength)
            assert.equal(crc32(raw), segment.crc)
            assert.equal(JSON.parse(`[${raw}]`).length, segment.count)
            const inflated = inflateRawSync(segment.deflated(), { finishFlush: constants.Z_SYNC_FLUSH })
            assert.deepEqual(inflated, raw)
            // Whatever follows can be joined on: no final block, and the end is a sync flush.
            assert.deepEqual([...segment.deflated().subarray(-4)], [0, 0, 0xff, 0xff])
          }
        }
      })

      it('gives many callers at once what it gives one, in the form that each will ask for', async () => {
        const [holey, short, whole, hidden] = [newName(), newName(), newName(), newName()]
        await store.create(holey, { keyField: 'id' })
        await store.append(holey, keyed(itemsFrom(0, 2600)))
        await store.delete(holey, ['1', '3', '700', '2550'])
        await store.create(short)
        await store.append(short, itemRun([item(1), item(2)]))
        await store.create(whole, { isPaginated: false })
        await store.append(whole, itemRun(itemsFrom(0, 700)))
        await store.create(hidden, { isPrivate: true })
        const wanted = [1, 2, 3, 4, 5, 6, 7].map((page) => ({ name: holey, page }))
        for (const name of [short, whole, hidden, newName()]) wanted.push({ name, page: 1 })
        const room = { before: 100, after: 10 }
        // An engine may need a while until it reads elsewhere.
        for (let round = 0; round < 20; round++) {
          for (const form of ['raw', 'deflated'] as const) {
            const options = { form, room, isPublicOnly: true }
            const reads = await Promise.all(wanted.map(({ name, page }) => store.page(name, page, options)))
            for (const [index, read] of reads.entries()) {
              const { name, page } = wanted[index] ?? assert.fail()
              const alone = await store.page(name, page, { isPublicOnly: true })
              assert.deepEqual(read?.head, alone?.head)
              assert.equal(read?.page, alone?.page)
              assert.deepEqual(read && textsOf(read), alone && textsOf(alone))
              for (const segment of read?.segments ?? []) checkRoom(segment, form)
            }
          }
          await sleep(20)
        }
      })

      it('never changes a full page by an append', async () => {
        const name = newName()
        await store.create(name)
        await store.append(name, itemRun(itemsFrom(0, 500)))
        const bytes = async () =>
          Buffer.concat((await store.page(name, 1))?.segments.map((each) => each.deflated()) ?? [])
        const before = await bytes()
        await store.append(name, itemRun(itemsFrom(500, 900)))
        assert.deepEqual(await bytes(), before)
      })

      it('answers many callers at once from snapshots that none of them asked before', async () => {
        const name = newName()
        await store.create(name)
        await store.append(name, itemRun(itemsFrom(0, 499)))
        for (let count = 499; count < 540; count++) {
          const reads = Array.from({ length: 9 }, () => store.page(name, 1, { form: 'deflated' }))
          for (const read of await Promise.all(reads)) assert.equal(read?.head.live, count)
          await store.append(name, itemRun([item(count)]))
          await sleep(5)
        }
      })

      it('reads head and items from one snapshot while another process writes', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 990)))
        const other = await opened.openAgain()
        const writing = (async () => {
          for (let id = 990; id < 1100; id++) await other.append(name, keyed([item(id)]))
          for (let id = 0; id < 60; id++) await other.delete(name, [String(id)])
        })()
        let isWriting = true
        void writing.finally(() => {
          isWriting = false
        })
        while (isWriting) {
          const read = await store.page(name, Number.MAX_SAFE_INTEGER)
          assert.ok(read)
          assert.equal(textsOf(read).length, read.head.live - (read.page - 1) * 500)
          await new Promise(setImmediate)
        }
        await writing
        await other.close()
        await check(name, itemsFrom(60, 1040))
      })

      it('keeps the snapshot of items() while others write', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 1600)))
        let count = 0
        for await (const segment of store.items(name)) {
          if (count === 0) {
            await store.delete(name, ['1400', '1599'])
            await store.append(name, keyed(itemsFrom(5000, 900)))
          }
          count += segment.count
        }
        assert.equal(count, 1600)
      })
    })

    describe('replacing and deleting', () => {
      it('hands out an item in memory of its own, not with all that was stored beside it', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        const texts = Array.from({ length: 1234 }, (_, id) => item(id, `,"text":"${'x'.repeat(1_000)}"`))
        await store.append(name, keyed(texts))
        for (const key of ['0', '777', '1233']) {
          const text = (await store.item(name, key))?.item?.text
          assert.ok((text?.buffer.byteLength ?? 0) < 100_000, `${text?.buffer.byteLength} bytes`)
        }
      })

      it('replaces items in sealed reams and in the tail; each keeps its place', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        const texts = itemsFrom(0, 1234)
        const before = await store.append(name, keyed(texts))
        const changed = [0, 499, 500, 777, 999, 1000, 1233].map((id) => item(id, `,"new":"${'x'.repeat(id)}"`))
        for (const text of changed) texts[Number(JSON.parse(text).id)] = text
        const head = await store.replace(name, keyed(changed))
        assert.equal(head.version, before.version + 1)
        assert.notEqual(head.commitId, before.commitId)
        assert.notEqual(head.fullPagesId, before.fullPagesId)
        await check(name, texts)
        assert.equal(String((await store.item(name, '777'))?.item?.text), texts[777])
      })

      it('closes the gap of a deleted item at any depth', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        let texts = itemsFrom(0, 2600)
        await store.append(name, keyed(texts))
        for (const ids of [
          [0],
          [499, 500],
          [2599, 2500],
          [1, 2, 3, 1000, 1001, 2000],
          itemsFrom(510, 400).map((_, i) => 510 + i),
        ]) {
          await store.delete(name, ids.map(String))
          texts = texts.filter((text) => !ids.includes(JSON.parse(text).id))
          await check(name, texts)
        }
        assert.equal((await store.item(name, '499'))?.item, undefined)
        await store.append(name, keyed(itemsFrom(9000, 1200)))
        await check(name, [...texts, ...itemsFrom(9000, 1200)])
      })

      it('serves what is left when whole reams are gone', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 3100)))
        await store.delete(
          name,
          itemsFrom(400, 2200).map((_, index) => String(400 + index)),
        )
        await check(name, [...itemsFrom(0, 400), ...itemsFrom(2600, 500)])
        await store.delete(
          name,
          [...itemsFrom(0, 400), ...itemsFrom(2600, 500)].map((text) => String(JSON.parse(text).id)),
        )
        await check(name, [])
        await store.append(name, keyed(itemsFrom(0, 3)))
        await check(name, itemsFrom(0, 3))
      })

      it('joins what a page takes of two reams, to be deflated once, and takes whole reams as they are', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 2000)))
        const pieces = async () =>
          (await store.page(name, 2))?.segments.map(({ count, isDeflated }) => ({ count, isDeflated }))
        assert.deepEqual(await pieces(), [{ count: 500, isDeflated: true }])
        await store.delete(name, ['7'])
        assert.deepEqual(await pieces(), [{ count: 500, isDeflated: false }])
        await store.delete(
          name,
          itemsFrom(1000, 300).map((text) => String(JSON.parse(text).id)),
        )
        await store.delete(
          name,
          itemsFrom(8, 320).map((text) => String(JSON.parse(text).id)),
        )
        assert.deepEqual(await pieces(), [
          { count: 179, isDeflated: false },
          { count: 200, isDeflated: true },
          { count: 121, isDeflated: false },
        ])
      })

      it('lets a deleted key be appended again, at the end', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 5)))
        await store.delete(name, ['2'])
        await store.append(name, keyed([item(2)]))
        await check(name, [item(0), item(1), item(3), item(4), item(2)])
      })

      it('refuses a key that is not there, and keeps nothing of that call', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 600)))
        await assert.rejects(store.delete(name, ['1', '2', 'nope']), isError('no-item'))
        await assert.rejects(store.delete(name, ['1', '1']), isError('no-item'))
        await assert.rejects(store.replace(name, keyed([item(1, ',"x":1'), item(5000)])), isError('no-item'))
        await check(name, itemsFrom(0, 600))
      })

      it('refuses both for a collection without a key', async () => {
        const name = newName()
        await store.create(name)
        await store.append(name, itemRun(itemsFrom(0, 2)))
        await assert.rejects(store.delete(name, ['1']), isError('no-key-field'))
        await assert.rejects(store.replace(name, keyed([item(1)])), isError('no-key-field'))
      })
    })

    describe('items', () => {
      it('survive byte for byte, in the tail and in reams', async () => {
        const odd = [
          '{"n":12345678901234567890,"m":1.10,"e":1E5,"z":-0}',
          '{"a":1,"a":2,"__proto__":{"x":1},"constructor":null}',
          '{"u":"ä€😀","e":"\\u00e4\\ud83d\\ude00\\/\\b","lone":"\\ud800","nul":"\\u0000","sep":"\\u2028,\\n"}',
          '{ "spaced" : [ 1 , 2 ] }',
          '  {"kept":"around"}\t',
          '{}',
          `{"long":"${'x'.repeat(70_000)}"}`,
        ]
        const name = newName()
        await store.create(name)
        await store.append(name, itemRun(odd))
        await check(name, odd)
        const many = Array.from({ length: 100 }, () => odd).flat()
        await store.append(name, itemRun(many))
        await check(name, [...odd, ...many])
      })

      it('are found by keys as they were written', async () => {
        const name = newName()
        await store.create(name, { keyField: 'id' })
        const keys = [
          '12345678901234567890',
          '12345678901234567891',
          '-0',
          'a/b',
          'ä',
          'x y',
          "it's",
          '%2F',
          '😀',
          '\ufffd',
          'k'.repeat(1024),
        ]
        const texts = keys.map((key) => (/^-?\d+$/.test(key) ? `{"id":${key}}` : JSON.stringify({ id: key })))
        await store.append(name, keyed(texts))
        for (const [index, key] of keys.entries())
          assert.equal(String((await store.item(name, key))?.item?.text), texts[index])
        for (const key of ['12345678901234567892', '', 'A/B', '0', 'a/b\0', 'a\u0308', '\ud800', '😀'.charAt(0)]) {
          assert.equal((await store.item(name, key))?.item, undefined)
          await assert.rejects(store.remove(name, key), isError('no-item'))
        }
      })
    })

    describe('loading', () => {
      it('takes runs that are given away, and leaves others as they are', async () => {
        for (const [begun, size] of [
          [0, 500],
          [0, 300],
          [250, 500],
        ] as const) {
          const name = newName()
          await store.create(name, { keyField: 'id' })
          await store.append(name, keyed(itemsFrom(0, begun)))
          const texts = itemsFrom(begun, 2_000)
          const kept = keyed(texts.slice(0, size))
          const running = await store.load(name, { onConflict: 'skip' })
          for (let start = size; start < texts.length; start += size)
            await running.append({ ...keyed(texts.slice(start, start + size)), isTransferred: true })
          await running.append(kept)
          await running.append({ ...keyed(texts.slice(0, size)), isTransferred: true })
          await running.commit()
          assert.deepEqual(kept.text, keyed(texts.slice(0, size)).text)
          await check(name, [...itemsFrom(0, begun), ...texts.slice(size), ...texts.slice(0, size)])
        }
      })

      for (const size of BOUNDARY_SIZES)
        it(`creates a collection of ${size} items`, async () => {
          const name = newName()
          const result = await load(name, itemsFrom(0, size), { settings: { keyField: 'id' } })
          assert.deepEqual([result.appended, result.replaced, result.skipped], [size, 0, 0])
          await check(name, itemsFrom(0, size))
        })

      it('appends to any size', async () => {
        for (const first of [0, 1, 250, 499, 500, 501])
          for (const second of [0, 1, 249, 250, 500, 1100]) {
            const name = newName()
            await load(name, itemsFrom(0, first))
            await load(name, itemsFrom(first, second))
            await check(name, itemsFrom(0, first + second))
          }
      })

      it('is unseen until its commit, and then seen whole', async () => {
        const name = newName()
        await load(name, itemsFrom(0, 700), { settings: { keyField: 'id' } })
        const running = await store.load(name, { onConflict: 'replace' })
        await running.append(keyed(itemsFrom(700, 500)))
        await running.append(keyed([item(3, ',"new":1'), item(699, ',"new":1'), ...itemsFrom(1200, 498)]))
        const before = await check(name, itemsFrom(0, 700))
        assert.equal((await store.item(name, '701'))?.item, undefined)
        assert.equal(String((await store.item(name, '3'))?.item?.text), item(3))
        const { head } = await running.commit()
        assert.equal(head.version, before.version + 1)
        const expected = itemsFrom(0, 1698)
        expected[3] = item(3, ',"new":1')
        expected[699] = item(699, ',"new":1')
        await check(name, expected)
      })

      it('refuses other writers of its collection while it runs, and no others', async () => {
        const name = newName()
        const other = newName()
        await store.create(name, { keyField: 'id' })
        await store.create(other)
        const running = await store.load(name)
        await running.append(keyed(itemsFrom(0, 600)))
        const again = await opened.openAgain()
        for (const each of [store, again]) {
          await assert.rejects(each.append(name, keyed([item(1)])), isError('busy'))
          await assert.rejects(each.load(name), isError('busy'))
          await assert.rejects(each.drop(name), isError('busy'))
          await each.append(other, itemRun([item(1)]))
        }
        await again.close()
        await running.commit()
        await check(name, itemsFrom(0, 600))
      })

      it('refuses two loads that would create the same collection', async () => {
        const name = newName()
        const running = await store.load(name)
        await assert.rejects(store.load(name), isError('busy'))
        await assert.rejects(store.create(name), isError('busy'))
        await running.abort()
        assert.equal(await store.head(name), undefined)
      })

      it('takes nothing more once it is being committed or aborted', async () => {
        const name = newName()
        const running = await store.load(name)
        await running.append(itemRun(itemsFrom(0, 700)))
        const committing = running.commit()
        await assert.rejects(running.append(itemRun(itemsFrom(700, 100))), isError('closed'))
        await committing
        await assert.rejects(running.append(itemRun(itemsFrom(700, 100))), isError('closed'))
        await check(name, itemsFrom(0, 700))
      })

      it('refuses to skip or replace where there is no key to tell by', async () => {
        const name = newName()
        for (const onConflict of ['skip', 'replace'] as const)
          await assert.rejects(store.load(name, { onConflict }), isError('no-key-field'))
        assert.equal(await store.head(name), undefined)
      })

      it('leaves no trace when it is aborted', async () => {
        const name = newName()
        await load(name, itemsFrom(0, 800), { settings: { keyField: 'id' } })
        const before = await store.head(name)
        for (const options of [{}, { isReplacement: true }, { onConflict: 'replace' }] as LoadOptions[]) {
          const running = await store.load(name, options)
          await running.append(keyed(itemsFrom(5000, 1700)))
          if (options.onConflict === 'replace') await running.append(keyed([item(5, ',"no":1')]))
          await running.abort()
          assert.deepEqual(await store.head(name), before)
        }
        await store.append(name, keyed(itemsFrom(5000, 300)))
        await check(name, [...itemsFrom(0, 800), ...itemsFrom(5000, 300)])
      })

      it('swaps a whole collection at once', async () => {
        const name = newName()
        const { head: first } = await load(name, itemsFrom(0, 1300), { settings: { keyField: 'id' } })
        await store.delete(name, ['5', '1299'])
        const running = await store.load(name, { isReplacement: true })
        await running.append(keyed(itemsFrom(100, 620)))
        assert.equal((await store.head(name))?.live, 1298)
        const { head } = await running.commit()
        assert.deepEqual([head.id, head.generation, head.live], [first.id, first.generation + 1, 620])
        await check(name, itemsFrom(100, 620))
        assert.equal((await store.item(name, '50'))?.item, undefined)
        await load(name, [], { isReplacement: true })
        await check(name, [])
      })

      it('names the item whose key is there already, and can skip or replace it', async () => {
        const name = newName()
        await load(name, itemsFrom(0, 700), { settings: { keyField: 'id' } })
        const running = await store.load(name)
        await running.append(keyed(itemsFrom(700, 500)))
        await assert.rejects(running.append(keyed([item(5000), item(8)])), (error: unknown) => {
          assert.deepEqual([(error as { index: number }).index, (error as { key: string }).key], [1, '8'])
          return true
        })
        await assert.rejects(running.commit(), isError('key-conflict'))
        await running.abort()
        await check(name, itemsFrom(0, 700))

        const more = [
          item(8, ',"n":1'),
          item(700),
          item(700, ',"n":2'),
          item(699, ',"n":3'),
          ...itemsFrom(701, 600),
          item(900, ',"n":4'),
        ]
        const skipped = await load(name, more, { onConflict: 'skip' })
        assert.deepEqual([skipped.appended, skipped.replaced, skipped.skipped], [601, 0, 4])
        await check(name, itemsFrom(0, 1301))

        const replaced = await load(name, more, { onConflict: 'replace' })
        assert.deepEqual([replaced.appended, replaced.replaced, replaced.skipped], [0, 605, 0])
        const expected = itemsFrom(0, 1301)
        for (const [id, n] of [
          [8, 1],
          [699, 3],
          [900, 4],
        ] as const)
          expected[id] = item(id, `,"n":${n}`)
        // The second of two items with one key came later.
        expected[700] = item(700, ',"n":2')
        await check(name, expected)
      })

      it('blames no items for a key that came again after them', async () => {
        const name = newName()
        const running = await store.load(name, { settings: { keyField: 'id' } })
        const runs = Array.from({ length: 30 }, (_, index) => keyed(itemsFrom(index * 500, 500)))
        const outcomes = await Promise.allSettled([...runs, keyed([item(5)])].map((run) => running.append(run)))
        assert.deepEqual(
          outcomes.map(({ status }) => status),
          [...runs.map(() => 'fulfilled'), 'rejected'],
        )
        await running.abort()
      })

      it('replaces keys that repeat within the new items themselves', async () => {
        const name = newName()
        const texts = [...itemsFrom(0, 1600), item(0, ',"n":1'), item(1599, ',"n":1'), item(700, ',"n":1')]
        await load(name, texts, { settings: { keyField: 'id' }, onConflict: 'replace' })
        const expected = itemsFrom(0, 1600)
        for (const id of [0, 700, 1599]) expected[id] = item(id, ',"n":1')
        await check(name, expected)
      })

      it('replaces more items than one step takes', async () => {
        const name = newName()
        await load(name, itemsFrom(0, 12_345), { settings: { keyField: 'id' } })
        const fresh = itemsFrom(0, 12_345).map((text) => text.replace('}', ',"n":1}'))
        await load(name, fresh, { onConflict: 'replace' })
        await check(name, fresh)
      })

      it('takes large items and then many small ones, also more at once than it has memory for', async () => {
        const name = newName()
        const large = Array.from({ length: 500 }, (_, id) => item(id, `,"text":"${'x'.repeat(20_000)}"`))
        const small = itemsFrom(500, 3_000)
        const tiny = Array.from({ length: 140_000 }, () => '{}')
        const { appended } = await load(name, [...large, ...small, ...tiny])
        assert.equal(appended, 143_500)
        assert.deepEqual(await readPageTexts(store, name, 1), large)
        assert.deepEqual(await readPageTexts(store, name, 2), small.slice(0, 500))
        assert.deepEqual(await readPageTexts(store, name, 287), tiny.slice(0, 500))
      })

      it('refuses settings other than the stored ones, naming both', async () => {
        const name = newName()
        await load(name, [], { settings: { keyField: 'id' } })
        for (const [settings, words] of [
          [{ keyField: 'sku' }, /"id".*"sku"/s],
          [{ isPaginated: false }, /paginated.*unpaginated/s],
          [{ isPrivate: true }, /public.*private/s],
        ] as const)
          await assert.rejects(store.load(name, { settings }), (error: unknown) => {
            assert.ok(isError('settings-differ')(error))
            assert.match(String(error), words)
            return true
          })
        const same = await store.load(name, { settings: { keyField: 'id', isPaginated: true, isPrivate: false } })
        await same.abort()
      })

      it('changes nothing when it has nothing to add', async () => {
        const name = newName()
        const { head } = await load(name, itemsFrom(0, 10))
        assert.deepEqual((await load(name, [])).head, head)
      })
    })

    describeStoreWrites(() => opened)

    describe('integrity', () => {
      it('finds nothing wrong after all of this', async () => {
        const result = await store.verify()
        assert.deepEqual(result.findings, [])
        assert.equal(result.collections, (await store.collections()).length)
      })

      it('refuses everything after it was closed', async () => {
        const again = await opened.openAgain()
        await again.ping()
        await again.close()
        await assert.rejects(again.head('x'), isError('closed'))
        await assert.rejects(again.append('x', itemRun([item(1)])), isError('closed'))
        await assert.rejects(again.ping(), isError('closed'))
      })
    })

    describeStoreModel(() => opened)
    describeStoreConcurrency(() => opened)
    describeStoreCompact(engine)
  })
}

/** The bytes are those of the segment, whatever is written into the room around them. */
function checkRoom(segment: Segment, form: 'raw' | 'deflated'): void {
  const { before, after } = segment.room ?? { before: 0, after: 0 }
  const bytes = segment[form]()
  const copy = Uint8Array.from(bytes)
  if (before > 0) new Uint8Array(bytes.buffer, bytes.byteOffset - before, before).fill(7)
  if (after > 0) new Uint8Array(bytes.buffer, bytes.byteOffset + bytes.length, after).fill(7)
  assert.deepEqual(Uint8Array.from(bytes), copy)
  const raw = form === 'raw' ? copy : inflateRawSync(copy, { finishFlush: constants.Z_SYNC_FLUSH })
  assert.equal(raw.length, segment.rawLength)
  assert.equal(crc32(raw), segment.crc)
}
