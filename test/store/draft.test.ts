import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changeOf } from '../../src/store/changes.ts'
import { Draft } from '../../src/store/draft.ts'
import { changed, isError, itemsFrom, keyed, keysFrom } from './items.ts'

/** Of a new collection with 3 items in its tail. */
function newDraft(): Draft {
  const draft = new Draft('events', undefined)
  draft.apply({
    apply: () => {
      draft.create({ keyField: 'id', isPaginated: true, isPrivate: false })
      draft.setRetention({ retentionMs: 60_000, retentionBytes: 1_000_000 })
      draft.append(keyed(itemsFrom(0, 3)))
    },
  })
  return draft
}

describe('changes that share a commit', () => {
  it('see what those before them did, and only what differs is left to write', () => {
    const draft = newDraft()
    draft.apply({ apply: () => draft.replace(['1'], [changed(1, 7)]) })
    assert.equal(draft.find('1')?.(), changed(1, 7))
    draft.apply({ apply: () => draft.delete(['0', '1']) })
    assert.equal(draft.find('1'), undefined)
    assert.deepEqual([...draft.addedKeys], [['2', 2]])
    assert.deepEqual([...draft.removedKeys], [])
    assert.deepEqual([draft.head?.live, draft.head?.next, draft.head?.changes], [1, 3, 6])
    draft.apply({ apply: () => draft.append(keyed(itemsFrom(0, 1))) })
    assert.equal(draft.addedKeys.get('0'), 3)
  })

  it('are logged one by one with the version that each leads to and the text that it replaces', () => {
    const draft = newDraft()
    const { version = 0 } = draft.head ?? {}
    draft.apply({ apply: () => draft.replace(['1'], [changed(1, 7)]) })
    draft.apply({ apply: () => draft.delete(['1', '2']) })
    assert.deepEqual(
      draft.log.map(({ kind, position, count, before, version }) => [kind, position, count, before, version]),
      [
        ['append', 0, 3, undefined, version],
        ['replace', 1, 1, itemsFrom(1, 1)[0], version + 1],
        ['delete', 1, 1, changed(1, 7), version + 2],
        ['delete', 2, 1, itemsFrom(2, 1)[0], version + 2],
      ],
    )
  })

  it('leave nothing behind where one is refused', () => {
    const draft = newDraft()
    const { head, log } = draft
    const before = structuredClone([head, log, [...draft.addedKeys]])
    const refused = () => {
      draft.move({}, false)
      draft.append(keyed(itemsFrom(2, 2)))
    }
    assert.throws(() => draft.apply({ apply: refused }), isError('key-conflict'))
    assert.throws(() => draft.apply({ apply: () => draft.delete(['1', '1']) }), isError('no-item'))
    assert.throws(() => draft.apply({ apply: () => draft.replace(['3'], ['']) }), isError('no-item'))
    assert.deepEqual([draft.head, draft.log, [...draft.addedKeys]], before)
  })

  it('can be one step, which nothing is if nothing changes', () => {
    const draft = newDraft()
    const { version = 0 } = draft.head ?? {}
    draft.apply({
      apply: () =>
        draft.inOneStep(false, () => {
          draft.delete(keysFrom(0, 2))
          draft.append(keyed(itemsFrom(5, 2)))
        }),
    })
    assert.deepEqual([draft.head?.version, draft.head?.live, draft.head?.changes], [version + 1, 3, 7])
    draft.apply({ apply: () => draft.inOneStep(true, () => {}) })
    assert.equal(draft.head?.version, version + 1)
  })
})

it('full pages stay the same after a PATCH only if it appends and fills no page', () => {
  const draft = newDraft()
  const patch = (texts: readonly string[]) => {
    draft.apply(changeOf(['patch', { puts: keyed(texts), steps: texts.map(() => null) }]))
    return draft.head?.fullPagesId
  }
  const before = draft.head?.fullPagesId
  assert.equal(patch(itemsFrom(3, 2)), before)
  const replaced = patch([changed(1, 1)])
  assert.notEqual(replaced, before)
  assert.notEqual(patch(itemsFrom(5, 500)), replaced)
})
