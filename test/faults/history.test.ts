import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { History, LOG, THINGS } from './history.ts'
import { Findings } from './report.ts'

const text = (id: string, note = '') => JSON.stringify({ id, note })
const [one, two, three, four] = ['c0-1', 'c0-2', 'c0-3', 'c0-4'].map((id) => text(id)) as [
  string,
  string,
  string,
  string,
]
const changed = text('c0-1', 'new')

/** A write of items, or of the absence of some. */
function begin(history: History, name: string, ids: readonly string[], note: string | null = '') {
  const items = new Map(ids.map((id) => [id, note === null ? null : text(id, note)]))
  return history.begin(`${history.tick()}`, { method: 'POST', path: `/${name}` }, items)
}

/** Two appends of two items each were acknowledged; of three things one was changed, and one deleted. */
function newHistory(): History {
  const history = new History(new Findings())
  history.acknowledge(begin(history, LOG, ['c0-1', 'c0-2']), 2)
  history.acknowledge(begin(history, LOG, ['c0-3', 'c0-4']), 4)
  history.acknowledge(begin(history, THINGS, ['c0-1', 'c0-2', 'c0-3']), undefined)
  history.acknowledge(begin(history, THINGS, ['c0-1'], 'new'), undefined)
  history.acknowledge(begin(history, THINGS, ['c0-2'], null), undefined)
  return history
}

const LOGGED = [one, two, three, four]
const KEPT = [changed, three]

/** Which kinds of findings there are, with how many of each. */
function found({ findings }: History): Record<string, number> {
  return Object.fromEntries(Object.entries(findings.counts).filter(([, count]) => count > 0))
}

describe('the check of a history', () => {
  for (const [flaw, log, things, kinds] of [
    ['nothing where everything is in its place', LOGGED, KEPT, {}],
    ['an acknowledged append that is gone', [one, two], KEPT, { lost: 1, other: 1 }],
    ['a part of an append', [one, two, three], KEPT, { partial: 1, other: 1 }],
    ['an append that is there twice', [...LOGGED, three, four], KEPT, { doubled: 2 }],
    ['an append that is not in one piece', [one, three, two, four], KEPT, { partial: 2, other: 2 }],
    ['an item that nobody sent', [...LOGGED, text('c0-5')], KEPT, { foreign: 1 }],
    ['two appends in another order than acknowledged', [three, four, one, two], KEPT, { other: 2 }],
    ['a replacement that is gone', LOGGED, [one, three], { lost: 1 }],
    ['a thing that is gone', LOGGED, [changed], { lost: 1 }],
    ['a deletion that is gone', LOGGED, [changed, two, three], { lost: 1 }],
    ['a key that is there twice', LOGGED, [...KEPT, three], { doubled: 1 }],
    ['a text that nobody sent', LOGGED, [changed, text('c0-3', 'x')], { foreign: 1 }],
    ['a key that nobody sent', LOGGED, [...KEPT, four], { foreign: 1 }],
    ['a thing in the wrong place', LOGGED, [three, changed], { other: 1 }],
  ] as const)
    it(`finds ${flaw}`, () => {
      const history = newHistory()
      history.check(log, things)
      assert.deepEqual(found(history), kinds)
    })

  for (const name of [LOG, THINGS])
    for (const [fate, texts, kinds, isThere] of [
      ['unknown', [], {}, false],
      ['unknown', [one, two], {}, true],
      ['unknown', [one], { partial: 1 }, true],
      ['refused', [], {}],
      ['refused', [one], { foreign: 1 }],
    ] as const)
      it(`judges ${texts.length} of 2 items of a write that is ${fate} (${name})`, () => {
        const history = new History(new Findings())
        const write = begin(history, name, ['c0-1', 'c0-2'])
        if (fate === 'unknown') history.loseSight(write)
        else history.settle(write, false)
        const told = name === LOG ? history.check(texts, []) : history.check([], texts)
        assert.deepEqual(told, isThere === undefined ? [] : [{ write, isThere }])
        assert.deepEqual(found(history), kinds)
      })

  it('finds a read that shows less than was acknowledged before, and one that is no prefix of another', () => {
    for (const [itemCount, texts] of [
      [2, [one, two]],
      [5, [one, text('c0-9'), three, four, text('c0-5')]],
    ] as const) {
      const history = newHistory()
      history.log.readPage(1, itemCount, texts, history.log.leastCount)
      assert.deepEqual(found(history), { other: 1 })
    }
  })

  it('lets a read show what was under way while it ran, and nothing older than what it should know', () => {
    const history = newHistory()
    const write = begin(history, THINGS, ['c0-1'], 'newer')
    const beganAt = history.tick()
    for (const note of ['new', 'newer']) history.things.readItem('c0-1', text('c0-1', note), beganAt, history.tick())
    assert.deepEqual(found(history), {})
    history.acknowledge(write, undefined)
    history.things.readItem('c0-1', changed, history.tick(), history.tick())
    assert.deepEqual(found(history), { other: 1 })
  })
})
