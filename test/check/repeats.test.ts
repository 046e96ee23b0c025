import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { documentOf } from '../../src/check/page/document.ts'
import { itemFactsOf } from '../../src/check/page/items.ts'
import { RepeatFinder } from '../../src/check/page/repeats.ts'

type Item = Record<string, unknown>

/** What is found in these pages. */
function find(...pages: Item[][]) {
  const finder = new RepeatFinder()
  pages.forEach((items, index) => {
    finder.add(index + 1, itemFactsOf(items))
  })
  return finder.found()
}

function items(count: number, itemOf: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => itemOf(index))
}

const person = (index: number) => ({ id: index, name: `Person ${index}`, city: `City ${index % 7}` })
const nameless = (index: number) => ({ serial: `s-${index}`, city: `City ${index % 7}` })

describe('repeated items', () => {
  it('are none where all differ', () => {
    assert.deepEqual(
      find(
        items(500, person),
        items(300, (index) => person(500 + index)),
      ),
      [],
    )
  })

  it('are found by a field named id, where one stands on two pages', () => {
    const [found, ...others] = find(items(500, person), [person(499), ...items(300, (index) => person(500 + index))])
    assert.deepEqual(others, [])
    assert.deepEqual(found, {
      isDoubt: false,
      repeat: { page: 2, item: 1, earlierPage: 1, earlierItem: 500, by: 'by its field "id"' },
    })
  })

  for (const name of ['id', '_id', 'ID', '@id', 'uuid', 'guid', 'key'])
    it(`are doubtful by a field named ${name} where the rest of the item differs`, () => {
      const itemOf = (index: number) => ({ [name]: `value-${index}`, at: index })
      const [found] = find(items(500, itemOf), [
        { [name]: 'value-17', at: 99_999 },
        ...items(9, (i) => itemOf(600 + i)),
      ])
      assert.equal(found?.isDoubt, true)
      assert.deepEqual([found?.repeat.page, found?.repeat.earlierItem], [2, 18])
    })

  it('are found by a field that is unique everywhere else, whatever its name', () => {
    const [found] = find(items(500, nameless), [nameless(3), ...items(100, (index) => nameless(500 + index))])
    assert.deepEqual(found, {
      isDoubt: false,
      repeat: { page: 2, item: 1, earlierPage: 1, earlierItem: 4, by: 'by its field "serial"' },
    })
  })

  it('are only odd where no field is unique', () => {
    // Both fields repeat often, though hardly ever together.
    const itemOf = (index: number) => ({ x: index % 30, y: Math.floor(index / 30) })
    const [found, ...others] = find(items(500, itemOf), [itemOf(3), ...items(100, (index) => itemOf(500 + index))])
    assert.deepEqual(others, [])
    assert.deepEqual(found, {
      isDoubt: true,
      repeat: { page: 2, item: 1, earlierPage: 1, earlierItem: 4, by: 'in all its fields' },
    })
  })

  it('are nothing at all where all items are equal', () => {
    for (const count of [1, 2, 3, 99, 100, 499, 500])
      for (const item of [{ id: 1 }, { a: 1 }, {}])
        assert.deepEqual(find(items(count, () => item)), [], `${count} items`)
    const page = items(500, () => ({ id: 1, a: 2 }))
    assert.deepEqual(find(page, page, page.slice(0, 1)), [])
  })

  it('are nothing at all where most items have an equal', () => {
    assert.deepEqual(find(items(500, (index) => ({ id: index % 250 }))), [])
    assert.deepEqual(find(items(500, (index) => ({ color: index % 5 }))), [])
  })

  it('are not told in a small collection without a field that promises to identify', () => {
    assert.deepEqual(find([{ a: 1 }, { a: 2 }, { a: 1 }]), [])
    assert.deepEqual(find(items(99, (index) => nameless(index % 98))), [])
  })

  it('are none in a small collection on one page, where paging repeats nothing', () => {
    assert.deepEqual(find([{ id: 1 }, { id: 2 }, { id: 1 }]), [])
    assert.deepEqual(find(items(20, (index) => person(index % 19))), [])
    assert.deepEqual(
      find([
        { key: 'a', at: 1 },
        { key: 'b', at: 2 },
        { key: 'a', at: 3 },
      ]),
      [],
    )
  })

  it('are found however many they are, by a field named id that is unique on every page', () => {
    const pages = [0, 450, 900].map((from) => items(500, (index) => person(from + index)))
    assert.equal(find(...pages)[0]?.isDoubt, false)
  })

  it('are none where a field named id is shared by different items of one page', () => {
    const rows = items(500, (index) => ({ id: index % 400, at: index }))
    assert.deepEqual(
      find(
        rows,
        items(100, (index) => ({ id: index, at: 1000 + index })),
      ),
      [],
    )
  })

  it('are not looked for by a field that is missing on a later page', () => {
    const later = items(100, (index) => ({ name: `Other ${index}` }))
    assert.deepEqual(find(items(500, person), later, [{ id: 3, name: 'Another' }]), [])
  })

  it('are not looked for by a field that one item does not have, or has as an object', () => {
    const objects = items(100, (index) => ({ id: { value: index % 50 }, at: index }))
    assert.deepEqual(find(objects), [])
    assert.deepEqual(find([{ at: -1 }, ...items(200, (index) => ({ id: index % 199, at: index }))]), [])
  })

  it('are not looked for by a field whose values repeat often', () => {
    const second = items(500, (index) => ({ id: index, name: `Other ${index}`, city: 'A' }))
    assert.deepEqual(find(items(500, person), second), [])
  })

  it('are not taken from a field such as user_id, which hardly repeats, where the contents differ', () => {
    const order = (index: number) => ({
      user_id: `u-${index === 77 ? 5 : index}`,
      total: index % 13,
      line: `${index} x`,
    })
    assert.deepEqual(
      find(
        items(500, order),
        items(500, (index) => order(500 + index)),
      ),
      [],
    )
  })

  it('are only odd where such a field is all there is beside equal contents', () => {
    // A value that two different items share is no identifier; so nothing proves that the equal items are one.
    const order = (index: number) => ({ user_id: `u-${index === 77 ? 5 : index}`, total: index % 13 })
    const [found] = find(items(500, order), [order(9), ...items(100, (index) => order(500 + index))])
    assert.equal(found?.isDoubt, true)
    assert.deepEqual([found?.repeat.page, found?.repeat.item, found?.repeat.earlierItem], [2, 1, 10])
  })

  it('are found in the page on which they stand twice', () => {
    const [found] = find([...items(200, person), person(0)])
    assert.deepEqual([found?.repeat.page, found?.repeat.item, found?.repeat.earlierItem], [1, 201, 1])
  })

  it('tell a number from a text', () => {
    assert.deepEqual(find([{ id: 1 }, { id: '1' }, { id: 2 }]), [])
  })

  it('tell numbers apart that JavaScript cannot', () => {
    const numbers = [...items(300, (id) => ({ id })).map(({ id }) => id), '1234567890123456789', '1234567890123456790']
    const text = numbers.map((id) => `{"id": ${id}}`).join()
    const { items: facts } = documentOf(`{"_embedded": {"events": [${text}]}}`, 'events')
    const finder = new RepeatFinder()
    if (facts !== undefined) finder.add(1, facts)
    assert.equal(facts?.count, 302)
    assert.deepEqual(finder.found(), [])
  })

  it('are not told of pages without items', () => {
    assert.deepEqual(find([], []), [])
  })

  it('name a field in a harmless form', () => {
    const name = '\u001b[2J\u202e'
    const itemOf = (index: number) => ({ [name]: index, b: index % 3 })
    const [found] = find(items(500, itemOf), [itemOf(3)])
    assert.equal(found?.repeat.by, 'by its field "\\u001b[2J\\u202e"')
  })

  it('are found in two million items, in bounded memory', () => {
    const finder = new RepeatFinder()
    for (let page = 1; page <= 4000; page++)
      finder.add(page, itemFactsOf(items(500, (index) => ({ id: page * 500 + index }))))
    // Beyond 1.4 million every second one is remembered: of ten that repeat, some are found.
    finder.add(4001, itemFactsOf(items(10, (index) => ({ id: 900 + index * 7919 }))))
    assert.equal(finder.found()[0]?.isDoubt, false)
  })
})
