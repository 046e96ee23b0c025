import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sampleCollections } from '../../src/cli/commands/serve/sample.ts'

it('the sample has 1,234 events in a dozen venues, each with a key of its own, the same every time', () => {
  const [events, venues] = sampleCollections()
  const itemsOf = (texts: readonly string[] = []) => texts.map((text) => JSON.parse(text))
  const idsOf = (texts?: readonly string[]) => new Set(itemsOf(texts).map(({ id }) => id))
  assert.deepEqual([events?.name, events?.isPaginated, idsOf(events?.items).size], ['events', true, 1234])
  assert.deepEqual([venues?.name, venues?.isPaginated, idsOf(venues?.items).size], ['venues', false, 12])
  assert.deepEqual(new Set(itemsOf(events?.items).map(({ venue }) => venue)), idsOf(venues?.items))
  assert.deepEqual(sampleCollections(), sampleCollections())
})
