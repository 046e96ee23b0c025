/** A server whose data changes during the check: once, at any moment, or with every request. */

import assert from 'node:assert/strict'
import { type CheckOptions, checkConformance, type Report } from '../../src/check/index.ts'
import { Cases } from '../sample.ts'
import { type Asked, CorrectServer, inProcess, numberedItems } from './correct-server.ts'
import { assertSound, idsWith, notesOf, outline } from './hostile-servers.ts'

/** Others write: this is called for every request, before it is answered. */
type Writer = (server: CorrectServer, request: number) => void

/** A server that is right at every moment, while its data changes. */
export class ChangingServer extends CorrectServer {
  readonly #writer: Writer
  requests = 0

  constructor(items: number, writer: Writer) {
    super({ items })
    this.#writer = writer
  }

  override answer(asked: Asked) {
    this.#writer(this, ++this.requests)
    return super.answer(asked)
  }
}

/** In this process: that is faster, and what is tested here has nothing to do with sockets. */
export function check(server: CorrectServer, options: CheckOptions = {}): Promise<Report> {
  const fetch = inProcess(server, 'http://service.invalid')
  return checkConformance('http://service.invalid/events', { fetch, timeoutMs: 5000, timeLimitMs: 60_000, ...options })
}

/** A writer that makes one change, after so many requests. */
export function once(after: number, change: (server: CorrectServer) => void): Writer {
  return (server, request) => {
    if (request === after + 1) change(server)
  }
}

export const append = (count: number) => (server: CorrectServer) => {
  server.items = [...server.items, ...numberedItems(count, server.items.length + 1)]
}
export const keep = (from: number, to: number) => (server: CorrectServer) => {
  server.items = server.items.slice(from, to)
}
const replace = (index: number) => (server: CorrectServer) => {
  server.items = server.items.with(index, { id: 'new', title: 'Another one' })
}

/** The requests after which a change can come: all early ones, at which most answers are affected, and others in turn. */
function momentsOf(turn: number): number[] {
  return Array.from({ length: 45 }, (_, index) => index + 1).filter((after) => after <= 5 || after % 6 === turn % 6)
}

/** The number of items that each kind of change touches. */
const CHANGES: Record<string, [items: number, change: (server: CorrectServer) => void]> = {
  'an append of one item': [1001, append(1)],
  'an append of one item to a full page': [1000, append(1)],
  'an append of one item to an only, full page': [500, append(1)],
  'an append of 600 items': [1001, append(600)],
  'an append of 600 items to nothing': [0, append(600)],
  'an append of one item to nothing': [0, append(1)],
  'a removal of the last item': [1300, keep(0, -1)],
  'a removal of the first item': [1300, keep(1, 1300)],
  'a removal by which the last page goes': [1001, keep(0, -1)],
  'a removal by which only one page is left': [501, keep(0, -1)],
  'a removal of four pages': [2300, keep(0, 400)],
  'a removal of everything': [1001, keep(0, 0)],
  'a replacement on page 1': [1001, replace(7)],
  'a replacement on the last page': [1001, replace(1000)],
  'a replacement on the page between': [1001, replace(700)],
}

const { describe, it, list } = new Cases()

/** Whatever changes, and whenever: it breaks nothing. */
export const CHANGED = list

for (const [turn, [name, [items, change]]] of Object.entries(CHANGES).entries())
  describe(`${name} during the check breaks nothing`, () => {
    for (const after of momentsOf(turn))
      it(`after ${after} requests`, async () => {
        const server = new ChangingServer(items, once(after, change))
        const report = await check(server)
        assertSound(report)
        // 60, and those of the rules that are tried again because of the change.
        assert.ok(server.requests <= 90, `${server.requests} requests`)
        assert.equal(report.verdict, 'passed', outline(report))
        assert.equal(report.summary.fail + report.summary.warn, 0, outline(report))
      })
  })

const WALK_PAGES = 6
const WALK_CHANGES = [
  ...['an append of one item', 'a removal of the first item', 'a removal of the last item'],
  ...['an append of 600 items', 'a replacement on the page between'],
]
for (const [turn, name] of WALK_CHANGES.entries())
  describe(`${name} during a walk breaks nothing`, () => {
    const [, change = append(1)] = CHANGES[name] ?? []
    for (const after of momentsOf(turn))
      it(`after ${after} requests`, async () => {
        const server = new ChangingServer(500 * WALK_PAGES - 200, once(after, change))
        const report = await check(server, { walk: true })
        const attempts = 1 + [...notesOf(report).matchAll(/tried again/g)].length
        const most = 60 + (WALK_PAGES + 2) * attempts
        assertSound(report, most)
        assert.ok(server.requests <= most, `${server.requests} requests`)
        assert.equal(report.verdict, 'passed', `${server.requests} requests: ${outline(report)}`)
      })
  })

describe('data that changes all the time is never called broken', () => {
  const edit: Writer = (server, views) => {
    server.items = server.items.map((item) => ({ ...(item as object), views }))
  }
  const writers: [name: string, items: number[], writer: Writer, options?: CheckOptions][] = [
    ['one item more', [0, 1, 499, 500, 998, 1001], append(1)],
    ['a page more', [1001], append(500)],
    ['one item less', [40, 520, 1020], keep(0, -1)],
    ['the first item gone', [1300], keep(1, 1300)],
    ['every item edited', [1001], edit],
    ['every item edited, with many requests', [1001], edit, { requests: 300 }],
    ['one item more, in a walk', [5000], append(1), { walk: true }],
  ]
  for (const [name, sizes, writer, options] of writers)
    for (const items of sizes)
      it(`${items} items, and every request finds ${name}`, async () => {
        const server = new ChangingServer(items, writer)
        const report = await check(server, { strict: true, ...options })
        assert.deepEqual([idsWith(report, 'fail'), idsWith(report, 'warn')], [[], []], outline(report))
        assert.notEqual(report.verdict, 'failed')
        if (name !== 'one item more') return
        assertSound(report)
        assert.ok(server.requests <= 60, `${server.requests} requests`)
        assert.match(notesOf(report), /The data changed/, outline(report))
      })

  for (const walk of [false, true])
    it(`a writer appends every 20 ms, walk ${walk}`, async (t) => {
      const server = new CorrectServer({ items: 990 })
      const timer = setInterval(() => append(1)(server), 20)
      t.after(() => clearInterval(timer))
      const report = await check(server, { walk, delayMs: 5 })
      assert.notEqual(report.verdict, 'failed', outline(report))
    })
})
