import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CheckOptions, checkConformance, type Report } from '../../src/check/index.ts'
import { type Asked, CorrectServer, inProcess, numberedItems } from './correct-server.ts'
import { assertSound, idsWith, notesOf, outline, ruleOf } from './hostile-servers.ts'

/** Others write: this is called for every request, before it is answered. */
type Writer = (server: CorrectServer, request: number) => void

/** A server that is right at every moment, while its data changes. */
class ChangingServer extends CorrectServer {
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
function check(server: CorrectServer, options: CheckOptions = {}): Promise<Report> {
  const fetch = inProcess(server, 'http://service.invalid')
  return checkConformance('http://service.invalid/events', { fetch, timeoutMs: 5000, timeLimitMs: 60_000, ...options })
}

/** A writer that makes one change, after so many requests. */
function once(after: number, change: (server: CorrectServer) => void): Writer {
  return (server, request) => {
    if (request === after + 1) change(server)
  }
}

const append = (count: number) => (server: CorrectServer) => {
  server.items = [...server.items, ...numberedItems(count, server.items.length + 1)]
}
const keep = (from: number, to: number) => (server: CorrectServer) => {
  server.items = server.items.slice(from, to)
}
const replace = (index: number) => (server: CorrectServer) => {
  server.items = server.items.with(index, { id: 'new', title: 'Another one' })
}

/** The requests after which a change can come: all early ones, at which most answers are affected, and others in turn. */
function momentsOf(turn: number): number[] {
  return Array.from({ length: 45 }, (_, index) => index + 1).filter((after) => after <= 5 || after % 6 === turn % 6)
}

/** What is done to how many items. */
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

describe('one change during the check', () => {
  for (const [turn, [name, [items, change]]] of Object.entries(CHANGES).entries())
    it(`${name} breaks nothing, whenever it comes`, async () => {
      const wrong: string[] = []
      for (const after of momentsOf(turn)) {
        const server = new ChangingServer(items, once(after, change))
        const report = await check(server)
        assertSound(report)
        // 60, and those of the rules that are tried again because of the change.
        assert.ok(server.requests <= 90, `${server.requests} requests`)
        if (report.verdict !== 'passed' || report.summary.fail + report.summary.warn > 0)
          wrong.push(`after ${after} requests, ${server.requests} in all: ${outline(report)}`)
      }
      assert.deepEqual(wrong, [])
    })

  it('is told in the notes when a rule was tried again', async () => {
    const report = await check(new ChangingServer(1001, once(9, append(1))))
    assert.match(notesOf(report), /^The data changed during the check; tried again: [CD0-9, ]+\.$/m)
  })
})

describe('data that changes all the time', () => {
  it('is never called broken when every request finds one item more', async () => {
    for (const items of [0, 1, 499, 500, 998, 1001]) {
      const server = new ChangingServer(items, append(1))
      const report = await check(server)
      assertSound(report)
      assert.ok(server.requests <= 60, `${server.requests} requests`)
      assert.notEqual(report.verdict, 'failed', `${items} items: ${outline(report)}`)
      assert.match(notesOf(report), /The data changed/, outline(report))
    }
  })

  const edit: Writer = (server, views) => {
    server.items = server.items.map((item) => ({ ...(item as object), views }))
  }
  const writers: [name: string, items: number[], writer: Writer, options?: CheckOptions][] = [
    ['a page more', [1001], append(500)],
    ['one item less', [40, 520, 1020], keep(0, -1)],
    ['the first item gone', [1300], keep(1, 1300)],
    ['every item edited', [1001], edit],
    ['every item edited, with many requests', [1001], edit, { requests: 300 }],
    ['one item more, in a walk', [20_000], append(1), { walk: true }],
  ]
  for (const [name, sizes, writer, options] of writers)
    it(`is never called broken when every request finds ${name}`, async () => {
      for (const items of sizes) {
        const report = await check(new ChangingServer(items, writer), { strict: true, ...options })
        assert.deepEqual([idsWith(report, 'fail'), idsWith(report, 'warn')], [[], []], `${items}: ${outline(report)}`)
        assert.notEqual(report.verdict, 'failed')
      }
    })

  it('is never called broken when a writer appends every 20 ms', async (t) => {
    for (const walk of [false, true]) {
      const server = new CorrectServer({ items: 990 })
      const timer = setInterval(() => append(1)(server), 20)
      t.after(() => clearInterval(timer))
      const report = await check(server, { walk, delayMs: 5 })
      clearInterval(timer)
      assert.notEqual(report.verdict, 'failed', outline(report))
    }
  })

  it('hides no page beyond the last one that is a 404', async () => {
    for (const writer of [append(1), once(20, append(1)), once(20, append(600)), once(5, keep(0, -1)), keep(0, -1)]) {
      const server = new ChangingServer(1101, writer)
      server.effectivePage = (requested, asked) => {
        if (requested > BigInt(server.lastPage(asked))) throw server.notFound('this page')
        return Number(requested)
      }
      const report = await check(server)
      assert.equal(report.verdict, 'failed', outline(report))
      assert.equal(ruleOf(report, 'C7').status, 'fail', outline(report))
    }
  })

  it('hides no broken link', async () => {
    const server = new ChangingServer(1101, append(1))
    const links = server.links.bind(server)
    server.links = (page, asked) => ({ ...links(page, asked), last: { href: server.href(undefined, asked) } })
    const report = await check(server)
    assert.equal(report.verdict, 'failed', outline(report))
    assert.deepEqual(idsWith(report, 'fail'), ['C5'], outline(report))
  })

  it('is told from a server that gives another order at every request', async () => {
    class Shuffled extends CorrectServer {
      override itemsOn(page: number, asked: Asked): readonly unknown[] {
        return super.itemsOn(page, asked).toSorted(() => Math.random() - 0.5)
      }
    }
    const report = await check(new Shuffled({ items: 1001 }), { strict: true })
    assert.equal(report.verdict, 'failed', outline(report))
    assert.equal(ruleOf(report, 'D8').status, 'fail', outline(report))
    assert.match(notesOf(report), /the order is not fixed \(D8\)/)
  })
})

describe('a change during a walk', () => {
  const pages = 6
  const changes = ['an append of one item', 'a removal of the first item', 'a removal of the last item'] as const
  for (const [turn, name] of [...changes, 'an append of 600 items', 'a replacement on the page between'].entries())
    it(`${name} breaks nothing, whenever it comes`, async () => {
      const [, change = append(1)] = CHANGES[name] ?? []
      for (const after of momentsOf(turn)) {
        const server = new ChangingServer(500 * pages - 200, once(after, change))
        const report = await check(server, { walk: true })
        const attempts = 1 + [...notesOf(report).matchAll(/tried again/g)].length
        const most = 60 + (pages + 2) * attempts
        assertSound(report, most)
        assert.ok(server.requests <= most, `${server.requests} requests`)
        assert.equal(report.verdict, 'passed', `after ${after}, ${server.requests} requests: ${outline(report)}`)
      }
    })
})
