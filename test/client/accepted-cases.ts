/** Servers that the checker passes: the client and a mirror read all of their items. */

import assert from 'node:assert/strict'
import { checkConformance } from '../../src/check/index.ts'
import { CorrectServer, type Links } from '../check/correct-server.ts'
import type { Mutant } from '../check/mutants/mutant.ts'
import { MUTANTS } from '../check/mutants.ts'
import { Cases } from '../sample.ts'
import { mirrored, pulled, start, walked } from './read-whole.ts'

/** Fills the gaps of the contract in its own way. */
type Filling = Partial<CorrectServer>

const isEnd = (page: number, last: number, relation: string) => page === (relation === 'prev' ? 1 : last)

/** The links of a page, with those that the correct server leaves out at the ends. */
function withEnds(right: CorrectServer, end: (relation: 'prev' | 'next', last: number) => unknown): Filling {
  return {
    links: (page, asked) => {
      const last = right.lastPage(asked)
      const links: Record<string, unknown> = { ...CorrectServer.prototype.links.call(right, page, asked) }
      delete links['self']
      for (const relation of ['prev', 'next'] as const)
        if (isEnd(page, last, relation)) links[relation] = end(relation, last)
      return links
    },
  }
}

const FILLINGS: Readonly<Record<string, (right: CorrectServer) => Filling>> = {
  'prev and next lead to the end itself, and the items are one of two arrays': (right) => ({
    ...withEnds(right, (relation, last) => ({
      href: `${right.baseUrl}/events?page=${relation === 'prev' ? 1 : last}`,
    })),
    embedded: (items) => ({ messages: ['a', 'b'], events: items }),
  }),
  'prev and next lead past the end, and no array has the name of the collection': (right) => ({
    ...withEnds(right, (relation, last) => ({
      href: `${right.baseUrl}/events?page=${relation === 'prev' ? 0 : last + 1}`,
    })),
    embedded: (items) => ({ warnings: ['a', 'b', 'c'], data: items }),
    headers: () => ({ 'Content-Type': 'text/plain' }),
    encoding: () => 'identity',
  }),
  'prev and next are null, and an empty collection has no array': (right) => ({
    ...withEnds(right, () => null),
    embedded: (items) => (items.length === 0 ? {} : { items, about: { arrays: [[1], [2]] } }),
    etag: () => '"always the same"',
  }),
  'another array has the name of the collection on the last page, and names occur twice': (right) => ({
    serialize: (document) =>
      JSON.stringify(document).replace('"_embedded":{', '"_embedded":{"data":[{"id":0}]},"_embedded":{"data":[1],'),
    embedded: (items) => ({
      data: items,
      ...(items !== right.items &&
        items[0] !== right.items[0] && { events: items.map((_, index) => ({ wrong: index })) }),
    }),
  }),
  'next leads far past the end, with more arrays on the last page': (right) => ({
    ...withEnds(right, (relation) =>
      relation === 'prev' ? undefined : { href: `${right.baseUrl}/events?page=99999999999999999999999` },
    ),
    embedded: (items) => ({ list: items, ...(items.length < 500 && { rest: [1, 2], tags: [] }) }),
    parsePage: (values) => BigInt(/^0*([1-9][0-9]*)$/.exec(values[0] ?? '')?.[1] ?? 1),
  }),
}

function filled(filling: string, items: number): CorrectServer {
  const server = new CorrectServer({ items })
  return Object.assign(server, FILLINGS[filling]?.(server))
}

const { describe, it, list } = new Cases()

export const ACCEPTED = list

for (const filling of Object.keys(FILLINGS))
  describe(`a server that fills the gaps of the contract in its own way: ${filling}`, () => {
    for (const items of [0, 1, 500, 501, 502, 1234])
      it(`is checked, walked, pulled and mirrored with ${items} items`, async (t) => {
        const server = filled(filling, items)
        const url = await start(t, server)
        assert.notEqual((await checkConformance(url, { walk: true })).verdict, 'failed')
        assert.deepEqual(await walked(url), server.items)
        assert.deepEqual(await pulled(url), server.items)
        assert.deepEqual(await mirrored(url), server.items)
      })
  })

/** Breaks no rule of the contract, so that the checker only warns. The tests of the mutants see to it that it does. */
const isPassed = ({ caughtBy, also, isDoubt }: Mutant) =>
  isDoubt || ![caughtBy, ...also].some((id) => id.startsWith('C'))

/** Nobody can walk pages whose items never stand in the same order. */
const WITHOUT_ORDER = ['The items of a page come in another order each time.']
/** Reams cannot store these. */
const NOT_STORED = [
  'Items are numbers instead of objects.',
  'A removed item leaves null in its place.',
  'An unpaginated collection holds more than 10,000 items.',
]
/** A snapshot is believed: these have other items than the live pages. */
const OTHER_SNAPSHOT =
  /^(A snapshot shows other items|The last page of a snapshot shows|A page in the middle of a snapshot shows)/

describe('a server with a defect about which the checker only warns is walked, pulled and mirrored', () => {
  for (const mutant of MUTANTS.filter(isPassed)) {
    const { defect, caughtBy } = mutant
    it(`${defect} ${caughtBy}`, async (t) => {
      const server = mutant.create()
      const url = await start(t, server)
      if (WITHOUT_ORDER.includes(defect)) {
        await assert.rejects(walked(url), { name: 'CollectionChanged' })
        return
      }
      const found = await walked(url)
      if (!OTHER_SNAPSHOT.test(defect)) assert.deepEqual(found, itemsOf(server))
      assert.equal(found.length, server.items.length)
      assert.deepEqual(await pulled(url), found)
      if (NOT_STORED.includes(defect)) await assert.rejects(mirrored(url), /not an object|at most 10,000 items/)
      else assert.deepEqual(await mirrored(url), found)
    })
  }
})

/** The items on the live pages of a server. */
function itemsOf(server: CorrectServer): unknown[] {
  const asked = { method: 'GET', path: '/events', query: '', headers: {} }
  if (!server.isPaginated(asked)) return [...server.items]
  const pages = Array.from({ length: server.lastPage(asked) }, (_, index) => index + 1)
  const listsOn = (page: number) => Object.values(server.embedded(server.itemsOn(page, asked)) as Links)
  return pages.flatMap((page) => listsOn(page).flatMap((list) => (Array.isArray(list) ? list : [])))
}
