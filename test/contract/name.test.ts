import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isCollectionName } from '../../src/contract/name.ts'

describe('the name of a collection (D18)', () => {
  for (const name of ['events', 'e', '7', '2024-01_raw.v2', 'a'.repeat(64)])
    test(`can be ${name}`, () => assert.ok(isCollectionName(name)))

  const refused = `|Events|-events|.events|_events|a/b|a b|é|a@b|a%20|events\n|${'a'.repeat(65)}`.split('|')
  for (const name of refused) test(`cannot be ${JSON.stringify(name)}`, () => assert.ok(!isCollectionName(name)))
})
