import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatTag, keepsHistory, parseCollectionPath, parseTag } from '../../src/contract/state-tag.ts'

const COMMIT = 'AbC-_0123xy'
const TAG = `a-1z-0-${COMMIT}`

describe('the tag of a state (D22)', () => {
  it('names the collection, the version, the number of changes and the commit', () => {
    const state = { collectionId: 10, version: 71, changes: 0, commitId: COMMIT }
    assert.equal(formatTag(state), TAG)
    assert.deepEqual(parseTag(TAG), state)
  })

  it('is read back as the state that it was made of', () => {
    const number = fc.maxSafeNat()
    fc.assert(
      fc.property(number, number, number, (collectionId, version, changes) => {
        const state = { collectionId, version, changes, commitId: COMMIT }
        assert.deepEqual(parseTag(formatTag(state)), state)
      }),
    )
  })

  for (const text of [
    ...['', 'a-1z-0', `0a-1z-0-${COMMIT}`, `a-01z-0-${COMMIT}`, `a-1z-00-${COMMIT}`, `A-1z-0-${COMMIT}`],
    ...[`${TAG}x`, TAG.slice(0, -1), ` ${TAG}`, `${TAG}\n`, `zzzzzzzzzzzz-1z-0-${COMMIT}`, `-1z-0-${COMMIT}`],
  ])
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(parseTag(text), undefined))
})

describe('the path of a collection (D22, D23)', () => {
  it('names the collection, a snapshot or the changes since', () => {
    for (const [path, tag, isChanges] of [
      ['events', undefined, false],
      [`events@${TAG}`, TAG, false],
      [`events@${TAG}..`, TAG, true],
      ['events@', '', false],
      ['events@..', '', true],
      ['events@a@b', 'a@b', false],
    ] as const)
      assert.deepEqual(parseCollectionPath(path), { name: 'events', tag, isChanges })
  })

  for (const path of ['', '@', `@${TAG}`, `Events@${TAG}`, 'a/b', '-a'])
    it(`is not ${JSON.stringify(path)}`, () => assert.equal(parseCollectionPath(path), undefined))
})

it('only a paginated collection with a retention time keeps history', () => {
  assert.deepEqual(
    [true, false].flatMap((isPaginated) => [0, 1].map((retentionMs) => keepsHistory({ isPaginated, retentionMs }))),
    [false, true, false, false],
  )
})
