/** Earlier states and changes: at every state that is kept, what was read then is read again, and the changes lead to the present. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StateTag, stateOf } from '../../src/contract/state-tag.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { BYTES_A_STEP, FORGET_EVERY_MS } from '../../src/store/history.ts'
import type { Head, Store } from '../../src/store/store.ts'
import { waitUntil } from '../wait-until.ts'
import { changed, isError, item, itemsFrom, keyed, keysFrom } from './items.ts'
import { type ChangeItem, keyOf, patchOf, readChanges, readSnapshot } from './past-reading.ts'
import { packedTextsOf, readItems, textsOf } from './store-reading.ts'
import { KEYED, newSubject } from './subject.ts'
import type { Engine, StoreUnderTest } from './test-store.ts'

export function describeHistory(engineName: string, engine: Engine): void {
  describe(`the history of a collection: ${engineName}`, () => {
    let opened: StoreUnderTest
    const subject = newSubject(() => opened)
    const { store, newName, filled, headOf, load, elsewhere } = subject

    /** With the store opened again, which removes old states all the time. */
    const removing = (use: (remover: Store) => Promise<void>) => elsewhere(use, { forgetEveryMs: 3 })
    const tagOf = async (name: string) => stateOf(await headOf(name))

    before(async () => {
      opened = await engine.open()
    })
    after(() => opened?.remove())

    it('loses states from the oldest on while old ones are removed, and the others stay whole', () =>
      removing(async (remover) => {
        const name = newName()
        const seen: { head: Head; texts: readonly string[] }[] = []
        await store.create(name, KEYED)
        await store.setRetention(name, { retentionMs: 150 })
        await store.append(name, keyed(itemsFrom(0, 600)))
        for (let revision = 1; revision <= 14; revision++) {
          const writer = revision % 2 === 0 ? store : remover
          const texts = Array.from({ length: 7 }, (_, n) => changed((revision * 131 + n * 97) % 600, revision))
          if (revision % 7 === 0) await load(name, itemsFrom(0, 600), { isReplacement: true })
          else await writer.patch(name, patchOf(texts, revision), { skipMissing: true })
          seen.push({ head: await headOf(name), texts: await readItems(store, name) })
          let isExpired = false
          for (const { head, texts } of seen.toReversed().slice(0, 5)) {
            const found = await readSnapshot(store, name, stateOf(head)).catch((error: unknown) => {
              assert.ok(isError('state-expired')(error), String(error))
              return 'expired' as const
            })
            // Nothing older than a state that had gone can be there.
            assert.deepEqual(found, isExpired || found === 'expired' ? 'expired' : texts)
            isExpired = found === 'expired'
          }
        }
        // The last one stays, however long nobody writes.
        const last = seen.at(-1) ?? assert.fail()
        await sleep(300)
        assert.deepEqual(await readSnapshot(store, name, stateOf(last.head)), last.texts)
        await assert.rejects(store.stateAt(name, stateOf(seen[0]?.head ?? assert.fail())), isError('state-expired'))
      }))

    it('keeps to its limit: it drops the oldest first, and says so', () =>
      removing(async (remover) => {
        const notices: string[] = []
        remover.activity.onNotice = (message) => notices.push(message)
        const name = await filled(10)
        const first = await headOf(name)
        await store.setRetention(name, { retentionBytes: 20_000 })
        // More than it may take, and less than twice as much.
        for (let revision = 1; revision <= 27; revision++)
          await remover.put(name, keyed([item(3, `,"x":"${'y'.repeat(1_000)}","n":${revision}`)]))
        await waitUntil(() => notices.length > 0)
        assert.match(notices[0] ?? '', new RegExp(`history of "${name}" takes more than 20,000 bytes`))
        await assert.rejects(store.stateAt(name, stateOf(first)), isError('state-expired'))
        assert.equal((await readSnapshot(store, name, await tagOf(name))).length, 10)
      }))

    it('has the changes in the order in which they were made, each of them', async () => {
      const name = await filled(200)
      const tag = await tagOf(name)
      await store.patch(name, patchOf([changed(3, 1), changed(4, 1), changed(5, 1)], 0))
      const patched = await headOf(name)
      await store.put(name, keyed([changed(7, 1)]))
      await store.put(name, keyed([changed(7, 2)]))
      await store.remove(name, '7')
      await store.put(name, keyed([changed(7, 3)]))
      const { version } = await headOf(name)
      const put = (id: number, n: number, at: number) =>
        `{"op":"put","key":"${id}","version":${at},"item":${changed(id, n)}}`
      assert.deepEqual(await readChanges(store, name, tag), [
        put(3, 1, patched.version),
        `{"op":"delete","key":"4","version":${patched.version}}`,
        put(5, 1, patched.version),
        `{"op":"delete","key":"5","version":${patched.version}}`,
        put(5, 1, patched.version),
        put(7, 1, version - 3),
        put(7, 2, version - 2),
        `{"op":"delete","key":"7","version":${version - 1}}`,
        put(7, 3, version),
      ])
      assert.equal((await headOf(name)).changes, tag.changes + 9)
    })

    it('has the version that the answer to each write told, also of writes that came at once', async () => {
      const name = await filled(130)
      const tag = await tagOf(name)
      const puts = Array.from({ length: 12 }, (_, index) => changed(index < 6 ? index : 500 + index, 1))
      const heads = await Promise.all([
        ...puts.map(async (text) => (await store.put(name, keyed([text]))).head),
        store.append(name, keyed(itemsFrom(900, 3))),
        store.patch(name, patchOf([changed(21, 1), changed(22, 1), changed(23, 1)], 0)).then(({ head }) => head),
      ])
      const told = new Map<string, number>()
      for (const [index, { version }] of heads.entries()) {
        const keys = [...puts.map((text) => [keyOf(text)]), keysFrom(900, 3), ['21', '22', '23']][index] ?? []
        for (const key of keys) told.set(key, version)
      }
      const changes: ChangeItem[] = (await readChanges(store, name, tag)).map((text) => JSON.parse(text))
      assert.equal(changes.length, 12 + 3 + 5)
      for (const { key = '', version } of changes) assert.equal(version, told.get(key), key)
    })

    it('is read by many at once, who ask for the same and for other pages, in either form', async () => {
      const name = await filled(700)
      const tag = await tagOf(name)
      await store.append(name, keyed(itemsFrom(1_000, 600)))
      await store.put(name, keyed([changed(3, 1)]))
      const expected = await readChanges(store, name, tag)
      const asks = Array.from({ length: 30 }, async (_, index) => {
        const form = index % 3 === 0 ? 'raw' : 'deflated'
        const page = 1 + (index % 2)
        const read = await store.changesSince(name, tag, page, { form, room: { before: 100, after: 10 } })
        const texts = read && (form === 'raw' ? textsOf(read) : packedTextsOf(read))
        assert.deepEqual(texts, expected.slice(500 * (page - 1), 500 * page))
      })
      await Promise.all(asks)
    })

    it('tells of a replacement as a whole, and of items without a key', async () => {
      const name = newName()
      await store.create(name)
      await store.append(name, itemRun(['{"a":1}']))
      const tag = await tagOf(name)
      await load(name, ['{"b":1}', '{"b":2}'], { isReplacement: true })
      const { version } = await headOf(name)
      await store.append(name, itemRun(['{"c":1}']))
      assert.deepEqual(await readChanges(store, name, tag), [
        `{"op":"reset","version":${version}}`,
        `{"op":"put","version":${version},"item":{"b":1}}`,
        `{"op":"put","version":${version},"item":{"b":2}}`,
        `{"op":"put","version":${version + 1},"item":{"c":1}}`,
      ])
      assert.deepEqual(await readSnapshot(store, name, tag), ['{"a":1}'])
    })

    it('knows no state of another collection, of another history, or of the future', async () => {
      const [name, other] = [await filled(3), await filled(3)]
      const [own, foreign] = [await tagOf(name), await tagOf(other)]
      await store.append(name, keyed([item(3)]))
      const now = await tagOf(name)
      const wrong = [
        foreign,
        { ...own, commitId: now.commitId },
        { ...own, changes: own.changes + 1 },
        { ...now, commitId: own.commitId },
        { ...now, version: now.version + 1 },
        { ...now, changes: 2 ** 50 },
      ]
      for (const tag of wrong) {
        await assert.rejects(store.stateAt(name, tag), isError('no-state'))
        await assert.rejects(store.pageAt(name, tag, 1), isError('no-state'))
        await assert.rejects(store.changesSince(name, tag, 1), isError('no-state'))
      }
      assert.equal(await store.pageAt('no-such', own, 1), undefined)
      assert.equal((await store.stateAt(name, own))?.live, 3)
    })

    it('is hidden with a private collection, also from the first who asks after somebody else made it private', async () => {
      const options = { isPublicOnly: true }
      const reads = [
        (name: string, tag: StateTag) => store.stateAt(name, tag, options),
        (name: string, tag: StateTag) => store.pageAt(name, tag, 1, options),
        (name: string, tag: StateTag) => store.changesSince(name, tag, 1, options),
      ]
      for (const read of reads) {
        const name = await filled(3)
        const tag = await tagOf(name)
        const never = { ...tag, commitId: 'never' }
        await store.put(name, keyed([changed(1, 1)]))
        await store.page(name, 1, options)
        await assert.rejects(read(name, never), isError('no-state'))
        await elsewhere((again) => again.setPrivate(name, true))
        assert.equal(await read(name, never), undefined)
        assert.equal(await read(name, tag), undefined)
        assert.deepEqual(await readSnapshot(store, name, tag), itemsFrom(0, 3))
      }
    })

    it('ends with a retention of 0, is removed then, and begins again', async () => {
      const name = await filled(3)
      const tag = await tagOf(name)
      for (let n = 0; n < 5; n++) await store.put(name, keyed([changed(1, n)]))
      const off = await store.setRetention(name, { retentionMs: 0 })
      for (const table of ['state', 'change', 'past']) assert.equal(await opened.rows.count(table, name), 0, table)
      await store.put(name, keyed([changed(1, 1)]))
      const now = await tagOf(name)
      for (const each of [tag, stateOf(off), now])
        await assert.rejects(store.pageAt(name, each, 1), isError('state-expired'))
      await assert.rejects(store.pageAt(name, { ...now, commitId: 'never' }, 1), isError('no-state'))
      const on = await store.setRetention(name, { retentionMs: 60_000 })
      await store.put(name, keyed([changed(2, 2)]))
      await assert.rejects(store.pageAt(name, tag, 1), isError('state-expired'))
      assert.deepEqual(await readSnapshot(store, name, stateOf(on)), [item(0), changed(1, 1), item(2)])
      assert.equal((await readChanges(store, name, stateOf(on))).length, 1)
    })

    it('is forgotten when that is asked for, but for the present', async () => {
      const name = await filled(1_200)
      const tag = await tagOf(name)
      await store.delete(name, keysFrom(0, 600))
      await load(name, itemsFrom(0, 700), { isReplacement: true })
      const before = await tagOf(name)
      const forgotten = await store.forget(name)
      for (const each of [tag, before]) await assert.rejects(store.stateAt(name, each), isError('state-expired'))
      assert.deepEqual(await readSnapshot(store, name, stateOf(forgotten)), itemsFrom(0, 700))
      await store.remove(name, '5')
      assert.equal((await readSnapshot(store, name, stateOf(forgotten))).length, 700)
    })

    it('is kept for its time from the commit that superseded a state', async () => {
      const name = await filled(3)
      const first = await tagOf(name)
      await store.setRetention(name, { retentionMs: 50 })
      await store.append(name, keyed([item(3)]))
      const last = await tagOf(name)
      await sleep(60)
      await assert.rejects(store.pageAt(name, first, 1), isError('state-expired'))
      assert.deepEqual(await readSnapshot(store, name, last), itemsFrom(0, 4))
    })

    it('is removed when it was superseded long ago, or far in the future by a clock that was wrong', async () => {
      const hour = 3_600_000
      for (const ages of [
        [3, 2, 0.5],
        [0, -1_000, -0.5],
      ]) {
        const name = await filled(3)
        await store.setRetention(name, { retentionMs: hour })
        // From here on there are three states.
        const heads = [await store.forget(name)]
        for (const id of [3, 4]) heads.push(await store.append(name, keyed([item(id)])))
        for (const [index, { version }] of heads.entries())
          await opened.ageStates((ages[index] ?? 0) * hour, name, version)
        const versions = async () => (await opened.rows.values('state', 'version', name)).map(Number)
        await removing(async (remover) => {
          await remover.create(newName(), KEYED)
          while ((await versions()).length === heads.length) await sleep(5)
        })
        const [first, ...others] = heads.map(stateOf)
        assert.deepEqual(
          await versions(),
          others.map(({ version }) => version),
        )
        await assert.rejects(store.stateAt(name, first ?? assert.fail()), isError('state-expired'))
        for (const tag of others) assert.ok(await store.stateAt(name, tag))
      }
    })

    it('of a whole store takes no more than it may: the oldest states go first, whichever collection they belong to', async () => {
      // Collections of other tests count too.
      const others = await engine.open()
      try {
        const writer = others.store
        const names = ['a', 'b', 'c', 'd', 'e']
        const states: { name: string; head: Head }[] = []
        for (const name of names) {
          await writer.create(name, KEYED)
          await writer.append(name, keyed([item(0)]))
        }
        const age = (name: string, { version }: Head, hours: number) =>
          others.ageStates(hours * 3_600_000, name, version)
        for (let revision = 0; revision < 40; revision++) {
          const name = names[(revision * revision) % names.length] ?? ''
          const { head } = await writer.put(name, keyed([item(0, `,"n":${revision},"x":"${'y'.repeat(5_000)}"`)]))
          states.push({ name, head })
        }
        // From 20 hours ago on, two an hour; those of the first writes are older.
        for (const name of names) await others.ageStates(23 * 3_600_000, name)
        for (const [index, { name, head }] of states.entries()) await age(name, head, 20 - index / 2)
        const remover = await others.openAgain({ forgetEveryMs: 3, historyBytes: 60_000 })
        const notices: string[] = []
        remover.activity.onNotice = (message) => notices.push(message)
        const countStates = () => others.rows.count('state')
        await remover.create('another', KEYED)
        // It tells when all collections are done.
        await waitUntil(async () => notices.length > 0 && (await countStates()) < 25)
        await remover.close()
        const isKept = await Promise.all(
          states.map(({ name, head }) =>
            writer.stateAt(name, stateOf(head)).then(
              () => true,
              (error: unknown) => !isError('state-expired')(error),
            ),
          ),
        )
        const isLast = states.map(({ name }, index) => states.findLastIndex((state) => state.name === name) === index)
        const firstKept = isKept.findIndex((kept, index) => kept && !isLast[index])
        // About 12 texts of 5,000 bytes.
        assert.ok(firstKept > 20 && firstKept < 36, `${firstKept}`)
        assert.deepEqual(
          isKept,
          states.map((_, index) => index >= firstKept || isLast[index]),
        )
        assert.match(notices[0] ?? '', /^The history of the store takes more than 60,000 bytes: the oldest states of /)
        const { findings } = await writer.verify()
        assert.deepEqual(findings, [])
      } finally {
        await others.remove()
      }
    })

    it('promises no long life to a state when half of what its history may take is taken', async () => {
      const name = await filled(3)
      const tag = await tagOf(name)
      await store.setRetention(name, { retentionMs: 3_600_000, retentionBytes: 20_000 })
      const keptMs = async () => (await store.stateAt(name, tag))?.keptMs ?? 0
      await store.put(name, keyed([item(1, `,"x":"${'y'.repeat(12_000)}"`)]))
      assert.ok((await keptMs()) > 3_000_000)
      await store.put(name, keyed([item(1)]))
      assert.equal(await keptMs(), FORGET_EVERY_MS)
      assert.equal((await store.pageAt(name, tag, 1))?.keptMs, FORGET_EVERY_MS)
    })

    it('goes on while a load is prepared and given up, in another process too', async () => {
      const name = await filled(800)
      const tag = await tagOf(name)
      const running = await store.load(name, { onConflict: 'replace' })
      await running.append(keyed([...itemsFrom(100, 300).map((_, index) => changed(100 + index, 1)), item(5_000)]))
      assert.deepEqual(await readSnapshot(store, name, tag), itemsFrom(0, 800))
      await running.abort()
      await store.put(name, keyed([changed(150, 2)]))
      assert.deepEqual(await readSnapshot(store, name, tag), itemsFrom(0, 800))
      assert.equal((await readChanges(store, name, tag)).length, 1)
      await elsewhere(async (other) => {
        assert.deepEqual(await readSnapshot(other, name, tag), itemsFrom(0, 800))
        assert.equal((await readChanges(other, name, tag)).length, 1)
      })
    })

    it('has the first state of a collection after a load into it was given up', async () => {
      const name = await filled(0)
      const tag = await tagOf(name)
      const running = await store.load(name)
      await running.append(keyed(itemsFrom(0, 3)))
      await running.abort()
      await store.append(name, keyed([item(7)]))
      assert.deepEqual(await readSnapshot(store, name, tag), [])
      assert.equal((await readChanges(store, name, tag)).length, 1)
    })

    it('is removed however long the texts of its changes are', async () => {
      const name = await filled(0)
      const long = `,"x":"${'y'.repeat(BYTES_A_STEP / 20)}"`
      await store.append(name, keyed(keysFrom(0, 50).map((key) => item(Number(key), long))))
      await store.delete(name, keysFrom(0, 50))
      await store.forget(name)
      for (const table of ['change', 'past']) assert.equal(await opened.rows.count(table, name), 0, table)
    })

    it('is removed after a load too, by whoever does nothing else', async () => {
      const name = await filled(600)
      await store.setRetention(name, { retentionMs: 1 })
      for (let round = 0; round < 2; round++)
        await elsewhere(async (other) => {
          const running = await other.load(name, { isReplacement: true })
          await running.append(keyed(itemsFrom(0, 600)))
          await sleep(5)
          await running.commit()
        })
      const kept = await opened.rows.count('replaced', name)
      assert.ok(kept <= 1, `${kept} generations are kept`)
    })

    it('finds nothing wrong after all of this', async () => {
      assert.deepEqual((await store.verify()).findings, [])
    })
  })
}
