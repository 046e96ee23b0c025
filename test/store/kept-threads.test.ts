import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { itemRun } from '../../src/items/item-run.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { readItems } from './store-reading.ts'

const started: Worker[] = []
process.on('worker', (worker) => started.push(worker))

/** Opens a new store, adds an item and closes it. */
async function useStore(text: string): Promise<void> {
  const opened = await openSqliteForTest()
  await opened.store.create('events')
  await opened.store.append('events', itemRun([text]))
  assert.deepEqual(await readItems(opened.store, 'events'), [text])
  await opened.remove()
}

it('stores that are opened in turn share a thread, which ends a moment after the last', async () => {
  for (const id of [1, 2, 3]) await useStore(`{"id":${id}}`)
  assert.equal(started.length, 1)
  const [thread = assert.fail()] = started
  // Neither a kept thread nor its timer keeps the process alive.
  thread.ref()
  await once(thread, 'exit')
  await useStore('{"id":4}')
  assert.equal(started.length, 2)
})

it('a kept thread that dies is not used again', async () => {
  await useStore('{"id":5}')
  await started.at(-1)?.terminate()
  await useStore('{"id":6}')
})
