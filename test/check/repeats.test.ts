import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { documentOf } from '../../src/check/page/document.ts'
import { itemFactsOf } from '../../src/check/page/items.ts'
import { RepeatFinder } from '../../src/check/page/repeats.ts'

type Item = Record<string, unknown>

/** What is found in these pages. */
function find(...pages: Item[][]) {
  const finder = new RepeatFinder()
  for (const [index, items] of pages.entries()) finder.add(index + 1, itemFactsOf(items))
  return finder.found()
}

function items(count: number, itemOf: (index: number) => Item, first = 0): Item[] {
  return Array.from({ length: count }, (_, index) => itemOf(first + index))
}

const person = (index: number) => ({ id: index, name: `Person ${index}`, city: `City ${index % 7}` })
const nameless = (index: number) => ({ serial: `s-${index}`, city: `City ${index % 7}` })
/** Both fields repeat often, though hardly ever together. */
const grid = (index: number) => ({ x: index % 30, y: Math.floor(index / 30) })
/** Two different items share a user. */
const order = (index: number) => ({ user_id: `u-${index === 77 ? 5 : index}`, total: index % 13 })

describe('repeated items are found', () => {
  const found: Record<string, [pages: Item[][], by: string, earlierItem: number, isDoubt: boolean]> = {
    'by a field named id': [[items(500, person), [person(499), ...items(300, person, 500)]], 'id', 500, false],
    'by a field that is unique everywhere else, whatever its name': [
      [items(500, nameless), [nameless(3), ...items(100, nameless, 500)]],
      'serial',
      4,
      false,
    ],
    'only as odd if no field is unique': [[items(500, grid), [grid(3), ...items(100, grid, 500)]], '', 4, true],
    // A value that two different items share is no identifier; so nothing proves that the equal items are one.
    'only as odd if two different items share a field': [
      [items(500, order), [order(9), ...items(100, order, 500)]],
      '',
      10,
      true,
    ],
  }
  for (const [name, [pages, field, earlierItem, isDoubt]] of Object.entries(found))
    it(name, () => {
      const by = field === '' ? 'in all its fields' : `by its field "${field}"`
      assert.deepEqual(find(...pages), [{ isDoubt, repeat: { page: 2, item: 1, earlierPage: 1, earlierItem, by } }])
    })

  for (const name of ['id', '_id', 'ID', '@id', 'uuid', 'guid', 'key'])
    it(`only as odd by a field named ${name} if the rest of the item differs`, () => {
      const itemOf = (index: number) => ({ [name]: `value-${index}`, at: index })
      const [found] = find(items(500, itemOf), [{ [name]: 'value-17', at: 99_999 }, ...items(9, itemOf, 600)])
      assert.deepEqual([found?.isDoubt, found?.repeat.page, found?.repeat.earlierItem], [true, 2, 18])
    })

  it('however many they are, by a field named id that is unique on every page', () => {
    const pages = [0, 450, 900].map((first) => items(500, person, first))
    assert.equal(find(...pages)[0]?.isDoubt, false)
  })

  it('on the page on which they stand twice', () => {
    const [found] = find([...items(200, person), person(0)])
    assert.deepEqual([found?.repeat.page, found?.repeat.item, found?.repeat.earlierItem], [1, 201, 1])
  })

  it('with the name of a field in a harmless form', () => {
    const name = '\u001b[2J\u202e'
    const itemOf = (index: number) => ({ [name]: index, b: index % 3 })
    const [found] = find(items(500, itemOf), [itemOf(3)])
    assert.equal(found?.repeat.by, 'by its field "\\u001b[2J\\u202e"')
  })
})

describe('no repeated items are found', () => {
  const equal = items(500, () => ({ id: 1, a: 2 }))
  const none: Record<string, Item[][]> = {
    'if all differ': [items(500, person), items(300, person, 500)],
    'if all items are equal': [equal, equal, equal.slice(0, 1)],
    'if most items have an equal': [items(500, (index) => ({ id: index % 250 }))],
    'by a field with few values': [items(500, (index) => ({ color: index % 5 }))],
    'in three items without an identifier': [[{ a: 1 }, { a: 2 }, { a: 1 }]],
    'in a small collection without an identifier': [items(99, (index) => nameless(index % 98))],
    'in three items on one page, where paging repeats nothing': [[{ id: 1 }, { id: 2 }, { id: 1 }]],
    'in a small collection on one page': [items(20, (index) => person(index % 19))],
    'if a key is shared on one page': [items(3, (index) => ({ key: index % 2, at: index }))],
    'by a field named id that different items of one page share': [
      items(500, (index) => ({ id: index % 400, at: index })),
      items(100, (index) => ({ id: index, at: 1000 + index })),
    ],
    'by a field that is missing on a later page': [
      items(500, person),
      items(100, (index) => ({ name: `Other ${index}` })),
      [{ id: 3, name: 'Another' }],
    ],
    'by a field that is an object': [items(100, (index) => ({ id: { value: index % 50 }, at: index }))],
    'by a field that one item lacks': [[{ at: -1 }, ...items(200, (index) => ({ id: index % 199, at: index }))]],
    'by a field whose values repeat often': [
      items(500, person),
      items(500, (index) => ({ id: index, name: `Other ${index}`, city: 'A' })),
    ],
    'by a field such as user_id, which hardly repeats, if the contents differ': [
      items(500, (index) => ({ ...order(index), line: `${index} x` })),
      items(500, (index) => ({ ...order(index), line: `${index} x` }), 500),
    ],
    'if a number and a string look alike': [[{ id: 1 }, { id: '1' }, { id: 2 }]],
    'on pages without items': [[], []],
  }
  for (const [name, pages] of Object.entries(none)) it(name, () => assert.deepEqual(find(...pages), []))

  it('in equal items of any number', () => {
    for (const count of [1, 2, 3, 99, 100, 499, 500])
      for (const item of [{ id: 1 }, { a: 1 }, {}])
        assert.deepEqual(find(items(count, () => item)), [], `${count} items`)
  })

  it('among numbers that are one in JavaScript', () => {
    const numbers = [...Array(300).keys(), '1234567890123456789', '1234567890123456790']
    const text = numbers.map((id) => `{"id": ${id}}`).join()
    const { items: facts } = documentOf(`{"_embedded": {"events": [${text}]}}`, 'events')
    const finder = new RepeatFinder()
    if (facts !== undefined) finder.add(1, facts)
    assert.equal(facts?.count, 302)
    assert.deepEqual(finder.found(), [])
  })
})
