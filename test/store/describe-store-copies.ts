/** The part of the specification of Store that is about moving whole collections between stores. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { Copy, CopyOptions } from '../../src/store/copy.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import type { StoredCollection, StoredRows } from '../../src/store/stored-collection.ts'
import type { Engine, StoreUnderTest } from './describe-store.ts'
import { isError, itemsFrom, keyed } from './items.ts'
import { readAllPages, readItems } from './store-reading.ts'

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const each of all) found.push(each)
  return found
}

async function contentOf(rows: StoredRows) {
  const reams = (await collect(rows.reams())).map(({ gone, data, ...rest }) => {
    return { ...rest, gone: gone && [...gone], data: Buffer.from(data).toString('hex') }
  })
  return { reams, tail: await collect(rows.tail()), keys: (await collect(rows.keys())).flat() }
}

/** Sends all of it, or `most` reams. */
async function send(source: StoredCollection, copy: Copy, most = Number.POSITIVE_INFINITY): Promise<void> {
  await copy.putReams((await collect(source.reams())).slice(0, most))
  if (most !== Number.POSITIVE_INFINITY) return
  await copy.putTail(await collect(source.tail()))
  for await (const keys of source.keys()) await copy.putKeys(keys)
}

export function describeStoreCopies(engine: Engine): void {
  describe('copies', () => {
    let from: StoreUnderTest
    let to: StoreUnderTest
    let names = 0

    before(async () => {
      from = await engine.open()
      to = await engine.open()
    })
    after(async () => {
      await from.remove()
      await to.remove()
    })

    const make = async (count: number, settings: Partial<CollectionSettings> = {}): Promise<string> => {
      const name = `copied-${++names}`
      await from.store.create(name, settings)
      const texts = itemsFrom(0, count)
      await from.store.append(name, settings.keyField === undefined ? itemRun(texts) : keyed(texts))
      return name
    }
    const copy = (name: string, options: CopyOptions = {}) =>
      from.store.stored(name, async (source) => {
        const running = await to.store.copy(source.head, options)
        await send(source, running)
        return running.commit()
      })
    const checkSame = async (name: string): Promise<void> => {
      const origin = await from.store.head(name)
      const head = await to.store.head(name)
      assert.ok(origin && head)
      const { next, live, keyField, isPaginated, isPrivate } = origin
      assert.deepEqual(head, { ...head, next, live, keyField, isPaginated, isPrivate })
      assert.deepEqual(await to.store.stored(name, contentOf), await from.store.stored(name, contentOf))
      assert.deepEqual(await readAllPages(to.store, name), await readAllPages(from.store, name))
      assert.deepEqual((await to.store.verify()).findings, [])
    }
    const left = async (name: string, most: number, store: Store = to.store): Promise<void> => {
      await from.store.stored(name, async (source) => {
        const running = await store.copy(source.head)
        await send(source, running, most)
        await running.leave()
      })
    }

    for (const count of [0, 1, 499, 500, 501, 1500])
      it(`takes ${count} items over as they lie`, async () => {
        const name = await make(count)
        const head = await copy(name)
        assert.deepEqual(await to.store.head(name), head)
        await checkSame(name)
      })

    it('takes settings, keys and holes over, also those of the tail, and goes on like the original', async () => {
      const name = await make(1700, { keyField: 'id', isPrivate: true })
      const gone = [0, 1, 499, 777, 1501, 1698, 1699].map(String)
      await from.store.delete(name, [...gone, ...Array.from({ length: 500 }, (_, slot) => String(1000 + slot))])
      await copy(name)
      await checkSame(name)
      for (const { store } of [from, to]) {
        await store.delete(name, ['2', '1600'])
        await store.append(name, keyed(itemsFrom(5000, 700)))
        await store.replace(name, keyed(['{"id":3,"more":true}']))
      }
      assert.deepEqual(await readItems(to.store, name), await readItems(from.store, name))
      assert.deepEqual((await to.store.verify()).findings, [])
      assert.equal((await to.store.item(name, '5001'))?.item?.text.toString(), '{"id":5001}')
    })

    it('takes an unpaginated collection over', async () => {
      const name = await make(1200, { isPaginated: false })
      await copy(name)
      await checkSame(name)
    })

    it('hands out one snapshot, whatever is written meanwhile', async () => {
      const name = await make(1200, { keyField: 'id' })
      const before = await from.store.stored(name, contentOf)
      const seen = await from.store.stored(name, async (source) => {
        await from.store.append(name, keyed(itemsFrom(9000, 900)))
        await from.store.delete(name, ['5'])
        return contentOf(source)
      })
      assert.deepEqual(seen, before)
    })

    it('shows nothing before the commit, and reads back what has arrived', async () => {
      const name = await make(1100, { keyField: 'id' })
      await from.store.stored(name, async (source) => {
        const running = await to.store.copy(source.head)
        await send(source, running)
        assert.equal(await to.store.head(name), undefined)
        await assert.rejects(to.store.create(name), isError('busy'))
        assert.deepEqual(await running.read(contentOf), await contentOf(source))
        await running.abort()
      })
      assert.equal(await to.store.head(name), undefined)
      assert.deepEqual((await to.store.verify()).findings, [])
      await copy(name)
      await checkSame(name)
    })

    it('refuses a name that is taken, unless it is to be replaced, and then settings that differ', async () => {
      const name = await make(600, { keyField: 'id' })
      await to.store.create(name, { keyField: 'id' })
      const before = await to.store.append(name, keyed(itemsFrom(70, 3)))
      await assert.rejects(copy(name), isError('collection-exists'))
      assert.equal((await to.store.head(name))?.live, 3)
      const head = await copy(name, { isReplacement: true })
      assert.notEqual(head.commitId, before.commitId)
      assert.notEqual(head.fullPagesId, before.fullPagesId)
      await checkSame(name)
      await from.store.setPrivate(name, true)
      await assert.rejects(copy(name, { isReplacement: true }), isError('settings-differ'))
    })

    it('goes on with what a copy of the same state left', async () => {
      const name = await make(2600, { keyField: 'id' })
      await left(name, 3)
      // Who writes something else removes what others left, and this not.
      const other = await make(700)
      await copy(other)
      await to.store.drop(other)
      await from.store.stored(name, async (source) => {
        const running = await to.store.copy(source.head)
        assert.equal(running.kept.reams, 3)
        await running.putReams(await collect(source.reams()))
        const [keys = []] = await collect(source.keys())
        await running.putKeys(keys.slice(0, 1000))
        await running.leave()
      })
      const sent = await from.store.stored(name, async (source) => {
        const running = await to.store.copy(source.head)
        assert.equal(running.kept.reams, 5)
        await send(source, running)
        await running.commit()
        return running.kept.lastKey
      })
      assert.equal(typeof sent, 'string')
      await checkSame(name)
    })

    it('goes on behind the last key, by the order of their bytes', async () => {
      // By UTF-16 the second would come before the first.
      const texts = ['{"id":"\uffee"}', '{"id":"\u{10000}"}', '{"id":"é"}', '{"id":"z"}']
      const name = await make(0, { keyField: 'id' })
      await from.store.append(name, keyed(texts))
      for (let sent = 1; sent <= texts.length; sent++)
        await from.store.stored(name, async (source) => {
          const running = await to.store.copy(source.head)
          const [keys = []] = await collect(source.keys())
          await running.putKeys(keys.slice(0, sent))
          await running.putTail(await collect(source.tail()))
          await (sent === texts.length ? running.commit() : running.leave())
        })
      await checkSame(name)
    })

    it('goes on beside a collection that it replaces', async () => {
      const name = await make(1600)
      await to.store.create(name)
      await to.store.append(name, itemRun(itemsFrom(0, 700)))
      await from.store.stored(name, async (source) => {
        const first = await to.store.copy(source.head, { isReplacement: true })
        await send(source, first, 2)
        await first.leave()
        assert.equal((await to.store.head(name))?.live, 700)
        const second = await to.store.copy(source.head, { isReplacement: true })
        assert.equal(second.kept.reams, 2)
        await send(source, second)
        await second.commit()
      })
      await checkSame(name)
    })

    it('begins anew when the original has changed since', async () => {
      const name = await make(1600, { keyField: 'id' })
      await left(name, 2)
      await from.store.delete(name, ['7'])
      await from.store.stored(name, async (source) => {
        const running = await to.store.copy(source.head)
        assert.deepEqual(running.kept, { reams: 0, lastKey: undefined })
        await send(source, running)
        await running.commit()
      })
      await checkSame(name)
    })

    it('leaves nothing in the way of others', async () => {
      const name = await make(1600)
      await left(name, 3)
      assert.deepEqual((await to.store.verify()).findings, [])
      await to.store.create(name)
      await to.store.append(name, itemRun(itemsFrom(1, 2)))
      assert.deepEqual(await readItems(to.store, name), itemsFrom(1, 2))
      assert.deepEqual((await to.store.verify()).findings, [])
    })

    it('does not go on after another has taken over', async () => {
      const name = await make(1600)
      await from.store.stored(name, async (source) => {
        const first = await to.store.copy(source.head)
        await send(source, first, 1)
        await first.leave()
        const second = await to.store.copy(source.head)
        await assert.rejects(send(source, first), isError('lease-lost'))
        await assert.rejects(first.commit(), isError('lease-lost'))
        await first.abort()
        await send(source, second)
        await second.commit()
      })
      await checkSame(name)
    })

    it('passes on what its reader throws', async () => {
      const name = await make(3)
      const reason = new Error('enough')
      const give = async (): Promise<never> => {
        throw reason
      }
      await assert.rejects(from.store.stored(name, give), (error) => error === reason)
      await assert.rejects(from.store.stored('nobody', give), isError('no-collection'))
      const running = await to.store.copy(await from.store.stored(name, async ({ head }) => head))
      await assert.rejects(running.read(give), (error) => error === reason)
      await running.abort()
    })
  })
}
