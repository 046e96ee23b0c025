import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Slots } from '../../src/client/requester.ts'

it('requests in flight are halved when the server is overloaded, but one always goes on', async () => {
  const slots = new Slots(4)
  for (let time = 0; time < 5; time++) slots.shrink(slots.era)
  await slots.take()
  let isSecond = false
  const second = slots.take().then(() => {
    isSecond = true
  })
  await Promise.resolve()
  assert.deepEqual([slots.taken, isSecond], [1, false])
  slots.giveBack()
  await second
})
