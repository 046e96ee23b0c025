import assert from 'node:assert/strict'
import { it } from 'node:test'
import { formatTag, stateOf } from '../../src/contract/state-tag.ts'
import { changesSince } from '../../src/mirror/changes.ts'
import { HistoryLost } from '../../src/mirror/mirror-error.ts'
import { openTestStore } from '../store/test-store.ts'
import { Pair, rows } from './origin-and-mirror.ts'

it('a page of changes is refused where the origin no longer knows the state that the last page named', async (t) => {
  const { store, remove } = await openTestStore()
  t.after(remove)
  const pair = new Pair(t, 'events', store, store)
  const state = async () => stateOf((await store.head('events')) ?? assert.fail())
  await pair.fill(rows(0, 3))
  const tag = formatTag(await state())
  await pair.change(rows(3, 4))
  const named = await state()
  await pair.change(rows(5, 7))
  const { signal } = new AbortController()
  const origin = pair.origin(signal)
  const first = await origin.changes(tag).page(1)
  const readAfter = (until: string) =>
    Array.fromAsync(changesSince(origin, { tag, changes: 1, until }, first, () => {}, signal))
  assert.equal((await readAfter(formatTag(named))).length, 1)
  // As after a restore: the same numbers, and another commit.
  await assert.rejects(readAfter(formatTag({ ...named, commitId: 'another-one' })), HistoryLost)
})
