import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { CorrectServer } from '../check/correct-server.ts'
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

describe('a server that fills the gaps of the contract in its own way is checked, walked, pulled and mirrored', () => {
  for (const filling of Object.keys(FILLINGS))
    for (const items of [0, 1, 500, 501, 502, 1234])
      it(`${filling}: ${items} items`, async (t) => {
        const server = filled(filling, items)
        const url = await start(t, server)
        assert.notEqual((await checkConformance(url, { walk: true })).verdict, 'failed')
        assert.deepEqual(await walked(url), server.items)
        assert.deepEqual(await pulled(url), server.items)
        assert.deepEqual(await mirrored(url), server.items)
      })
})
