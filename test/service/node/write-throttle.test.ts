import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { WriteThrottle } from '../../../src/service/node/write-throttle.ts'

it('callers take turns, however many writes each of them sends', async () => {
  const throttle = new WriteThrottle()
  const begun: string[] = []
  for (let count = 0; count < 3; count++)
    for (const caller of ['a', 'b']) throttle.beginLater(caller, () => begun.push(caller))
  for (const caller of ['c', 'd']) throttle.beginLater(caller, () => begun.push(caller))
  while (begun.length < 8) await nextTurn()
  assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'a', 'b', 'a', 'b'])
})
