import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sampleCollections } from '../../src/cli/commands/serve/sample.ts'

describe('the sample', () => {
  const items = new Map(
    sampleCollections().map(({ name, text }) => [
      name,
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ]),
  )

  it('has 1,234 events and a dozen venues, the venues unpaginated', () => {
    assert.deepEqual(
      [...items].map(([name, { length }]) => [name, length]),
      [
        ['events', 1234],
        ['venues', 12],
      ],
    )
    assert.deepEqual(
      sampleCollections().map(({ isPaginated }) => isPaginated),
      [true, false],
    )
  })

  it('has one item a key', () => {
    for (const list of items.values()) assert.equal(new Set(list.map(({ id }) => id)).size, list.length)
  })

  it('places every event in one of the venues, and uses them all', () => {
    const venues = new Set(items.get('venues')?.map(({ id }) => id))
    assert.deepEqual(new Set(items.get('events')?.map(({ venue }) => venue)), venues)
  })

  it('is the same every time', () => assert.deepEqual(sampleCollections(), sampleCollections()))
})
