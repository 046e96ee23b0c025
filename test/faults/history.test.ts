import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { History, LOG, THINGS } from './history.ts'
import { Findings } from './report.ts'

const APPEND = { method: 'POST', path: `/${LOG}` } as const
const CHANGE = { method: 'POST', path: `/${THINGS}` } as const

const thing = (key: string, note = '') => JSON.stringify({ id: key, note })

function newHistory(): History {
  return new History(new Findings())
}

/** A history in which two appends of two items were acknowledged. */
function twoAppends(): History {
  const history = newHistory()
  history.acknowledge(history.beginAppend('first', APPEND, ['{"a":1}', '{"a":2}']), 2)
  history.acknowledge(history.beginAppend('second', APPEND, ['{"a":3}', '{"a":4}']), 4)
  return history
}

/** A history in which one client has put two things, then changed the first and deleted the second. */
function changedThings(): History {
  const history = newHistory()
  const change = (id: string, items: [string, string | null][]) =>
    history.acknowledge(history.beginChange(id, CHANGE, new Map(items)), undefined)
  change('1', [
    ['c0-1', thing('c0-1')],
    ['c0-2', thing('c0-2')],
    ['c0-3', thing('c0-3')],
  ])
  change('2', [['c0-1', thing('c0-1', 'new')]])
  change('3', [['c0-2', null]])
  return history
}

/** Which kinds of findings a check adds, with how many of each. */
function found({ findings }: History): Record<string, number> {
  return Object.fromEntries(Object.entries(findings.counts).filter(([, count]) => count > 0))
}

describe('the check of a history of appends', () => {
  const all = ['{"a":1}', '{"a":2}', '{"a":3}', '{"a":4}']

  it('finds nothing where everything is in its place', () => {
    const history = twoAppends()
    history.check(all, [])
    assert.deepEqual(found(history), {})
  })

  for (const [flaw, texts, kinds] of [
    ['an acknowledged write that is gone', all.slice(0, 2), { lost: 1, other: 1 }],
    ['a part of a write', all.slice(0, 3), { partial: 1, other: 1 }],
    ['a write that is there twice', [...all, ...all.slice(2)], { doubled: 2, partial: 0 }],
    ['an item that nobody sent', [...all, '{"b":1}'], { foreign: 1 }],
    ['two writes in another order than acknowledged', [...all.slice(2), ...all.slice(0, 2)], { other: 1 }],
  ] as const)
    it(`finds ${flaw}`, () => {
      const history = twoAppends()
      history.check(texts, [])
      for (const [kind, count] of Object.entries(kinds)) assert.ok((found(history)[kind] ?? 0) >= count, kind)
      assert.notDeepEqual(found(history), {})
    })

  it('finds what was refused and is there all the same', () => {
    const history = newHistory()
    history.refuse(history.beginAppend('refused', APPEND, ['{"a":1}']))
    history.check(['{"a":1}'], [])
    assert.deepEqual(found(history), { foreign: 1 })
  })

  it('takes a write of unknown fate whole or not at all, and says which', () => {
    for (const [texts, isThere] of [
      [[], false],
      [['{"a":1}', '{"a":2}'], true],
    ] as const) {
      const history = newHistory()
      const write = history.beginAppend('unknown', APPEND, ['{"a":1}', '{"a":2}'])
      history.loseSight(write)
      assert.deepEqual(history.check(texts, []), [{ write, isThere }])
      assert.deepEqual(found(history), {})
    }
    const history = newHistory()
    history.loseSight(history.beginAppend('unknown', APPEND, ['{"a":1}', '{"a":2}']))
    history.check(['{"a":1}'], [])
    assert.deepEqual(found(history), { partial: 1 })
  })

  it('finds a read that shows less than was acknowledged before, and one that is no prefix of another', () => {
    const short = twoAppends()
    short.log.readPage(1, 2, all.slice(0, 2), short.log.leastCount)
    assert.deepEqual(found(short), { other: 1 })
    const different = twoAppends()
    different.log.readPage(1, 5, ['{"a":1}', '{"a":9}', ...all.slice(2), '{"a":5}'], different.log.leastCount)
    assert.deepEqual(found(different), { other: 1 })
  })
})

describe('the check of a history of changes', () => {
  const all = [thing('c0-1', 'new'), thing('c0-3')]

  it('finds nothing where every key holds what was written last', () => {
    const history = changedThings()
    history.check([], all)
    assert.deepEqual(found(history), {})
  })

  for (const [flaw, texts, kinds] of [
    ['a replacement that is gone', [thing('c0-1'), thing('c0-3')], { lost: 1 }],
    ['an item that is gone', all.slice(0, 1), { lost: 1 }],
    ['a deletion that is gone', [all[0] ?? '', thing('c0-2'), all[1] ?? ''], { lost: 1 }],
    ['a key that is there twice', [...all, thing('c0-3')], { doubled: 1 }],
    ['a text that nobody sent', [all[0] ?? '', thing('c0-3', 'x')], { foreign: 1 }],
    ['a key that nobody sent', [...all, thing('c0-4')], { foreign: 1 }],
    ['an item in the wrong place', all.toReversed(), { other: 1 }],
  ] as const)
    it(`finds ${flaw}`, () => {
      const history = changedThings()
      history.check([], texts)
      assert.deepEqual(found(history), kinds)
    })

  it('finds a part of a write of unknown fate', () => {
    const history = newHistory()
    const items = new Map(['c0-1', 'c0-2'].map((key) => [key, thing(key)]))
    history.loseSight(history.beginChange('unknown', CHANGE, items))
    history.check([], [thing('c0-1')])
    assert.deepEqual(found(history), { partial: 1 })
  })

  it('lets a read show what was under way while it ran, and nothing older than what it should know', () => {
    const history = changedThings()
    const write = history.beginChange('4', CHANGE, new Map([['c0-1', thing('c0-1', 'newer')]]))
    const beganAt = history.tick()
    for (const note of ['new', 'newer']) history.things.readItem('c0-1', thing('c0-1', note), beganAt, history.tick())
    assert.deepEqual(found(history), {})
    history.acknowledge(write, undefined)
    history.things.readItem('c0-1', thing('c0-1', 'new'), history.tick(), history.tick())
    assert.deepEqual(found(history), { other: 1 })
  })
})
