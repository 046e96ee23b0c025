import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { ITEM_SEPARATOR } from '../../src/contract/envelope.ts'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { QUIRE_SIZE, REAM_SIZE } from '../../src/store/positions.ts'
import type { Store } from '../../src/store/store.ts'
import { pagesOf } from '../store/store-reading.ts'
import { bytesOf, fill, type OpenService, sharedService } from './open-service.ts'
import { isWhole } from './whole.ts'

/** Three reams, the last of which is begun, and a tail. */
const COUNT = 2 * REAM_SIZE + 2 * QUIRE_SIZE + 40

/** Alike, so that deflate refers from one to another wherever it may, and of many lengths. */
const ITEMS = Array.from(
  { length: COUNT },
  (_, id) => `{"id":${id},"title":"Dance: Gardens","notes":"${'naïve '.repeat(id % 13)}"}`,
)

/** The index of an item in its collection is also its key. */
const keys = (indexes: Iterable<number>): string[] => Array.from(indexes, String)
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

/** Holes of every kind in the second ream and behind it: a whole quire, both ends of others, every seventh, some of the tail. */
const TORN = [
  ...range(REAM_SIZE + QUIRE_SIZE, REAM_SIZE + 2 * QUIRE_SIZE),
  ...[0, QUIRE_SIZE - 1, 2 * QUIRE_SIZE, 3 * QUIRE_SIZE - 1].map((slot) => REAM_SIZE + slot),
  ...range(3 * QUIRE_SIZE, REAM_SIZE - 1)
    .filter((slot) => slot % 7 === 0)
    .map((slot) => REAM_SIZE + slot),
  ...[0, 1, QUIRE_SIZE + 5].map((slot) => 2 * REAM_SIZE + slot),
  ...[COUNT - 40, COUNT - 20, COUNT - 1],
]

const without = (gone: readonly number[]): string[] => {
  const removed = new Set(gone)
  return ITEMS.filter((_, index) => !removed.has(index))
}

/** How many items are gone before page 2 begins there: at both ends of each quire and now and then between, or everywhere. */
const CUTS = range(1, REAM_SIZE + 1).filter(
  (gone) => isWhole() || gone % 40 === 0 || [0, 1, QUIRE_SIZE - 1].includes(gone % QUIRE_SIZE),
)

/** Fails unless every page, plain, has the items that belong on it, and inflates to the same bytes. */
async function assertPages(get: OpenService['get'], name: string, texts: readonly string[]): Promise<void> {
  for (const [index, page] of pagesOf(texts).entries()) {
    const target = `/${name}?page=${index + 1}`
    const plain = await bytesOf(await get(target))
    assert.ok(plain.includes(`[\n${page.join(ITEM_SEPARATOR)}\n]`), target)
    const packed = await get(target, { 'Accept-Encoding': 'gzip' })
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    // Not compared as such: what differs would take long to print.
    assert.ok(gunzipSync(await bytesOf(packed)).equals(plain), `${target} of ${texts.length} items`)
  }
}

describe('a page that is cut', () => {
  // Without a cache every page comes from the store.
  const service = sharedService(async () => {}, { cacheBytes: 0 })

  it('inflates to the plain one, wherever in a ream, a quire or the tail it begins and ends', async () => {
    const { store, get } = service()
    await fill(store, 'front', ITEMS)
    await assertPages(get, 'front', ITEMS)
    // Page 2 begins further on each time, and page 1 ends there; then page 2 and 3 reach the tail.
    for (const [index, gone] of CUTS.entries()) {
      await store.delete('front', keys(range(CUTS[index - 1] ?? 0, gone)))
      await assertPages(get, 'front', ITEMS.slice(gone))
    }
  })

  it('inflates to the plain one where quires have holes, are short, or have nothing', async () => {
    const { store, get } = service()
    await fill(store, 'torn', ITEMS)
    await store.delete('torn', keys(TORN))
    const step = isWhole() ? 9 : 45
    for (let gone = 0; gone < REAM_SIZE; gone += step) {
      await assertPages(get, 'torn', without([...range(0, gone), ...TORN]))
      await store.delete('torn', keys(range(gone, Math.min(gone + step, REAM_SIZE))))
    }
  })
})

/** Collections whose pages begin at places where something could go wrong; answers their names. */
async function fillSample(store: Store): Promise<string[]> {
  const slots = [0, QUIRE_SIZE - 1, ...(isWhole() ? [1, QUIRE_SIZE, QUIRE_SIZE + 1, 250, REAM_SIZE - 1] : [])]
  const names: string[] = []
  for (const [kind, torn] of Object.entries({ whole: [], torn: TORN }))
    for (const slot of slots) {
      const name = `${kind}-${slot}`
      await fill(store, name, ITEMS)
      if (slot + torn.length > 0) await store.delete(name, keys([...range(0, slot), ...torn]))
      names.push(name)
    }
  // Quires of more than a window of deflate, and of more than a stored block.
  const textOf = (id: number) => String(id).repeat(id % 9 === 0 ? 20_000 : 50)
  const wide = range(0, QUIRE_SIZE + 5).map((id) => `{"id":${id},"x":"${textOf(id)}"}`)
  await fill(store, 'wide', wide)
  await store.delete('wide', keys([0, 3]))
  return [...names, 'wide']
}

const READER = `
import gzip, sys, urllib.request
for url in sys.argv[1:]:
    asked = urllib.request.Request(url, headers={'Accept-Encoding': 'gzip'})
    with urllib.request.urlopen(asked) as answer:
        assert answer.headers['Content-Encoding'] == 'gzip', url
        sys.stdout.buffer.write(gzip.decompress(answer.read()))
`

const CLIENTS: readonly [name: string, command: string, words: readonly string[]][] = [
  ['curl', 'curl', ['-sS', '--fail', '--compressed', '-w', '%{stderr}%{size_download}\n']],
  ['Python', 'python3', ['-c', READER]],
]

describe('a page that is cut, unpacked by others', () => {
  const service = sharedService(async () => {})

  it('is the plain one', async (t) => {
    const { store } = service()
    const names = await fillSample(store)
    const { port, close } = await listen({ port: 0, ...createService({ store, cacheBytes: 0 }) })
    t.after(() => close(0))
    const pages = names.flatMap((name) => (name === 'wide' ? [1] : [1, 2, 3]).map((page) => `${name}?page=${page}`))
    const urls = pages.map((page) => `http://127.0.0.1:${port}/${page}`)
    const plain = Buffer.concat(await Promise.all(urls.map(async (url) => bytesOf(await plainOf(url)))))
    for (const [name, command, words] of CLIENTS)
      await t.test(`by ${name}`, async (inner) => {
        if (spawnSync(command, ['--version']).status !== 0) return inner.skip(`there is no ${command} on this machine`)
        const options = { encoding: 'buffer', maxBuffer: 2 * plain.length } as const
        const { stdout, stderr } = await promisify(execFile)(command, [...words, ...urls], options)
        assert.ok(stdout.equals(plain))
        // What curl says it has loaded: less than it has written.
        const sizes = stderr.toString().trim().split('\n').map(Number)
        assert.ok(sizes.reduce((sum, size) => sum + size, 0) < plain.length / 2)
      })
  })
})

/** Fetch would ask for gzip. */
function plainOf(url: string): Promise<Response> {
  return fetch(url, { headers: { 'Accept-Encoding': 'identity' } })
}
