import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ReadAhead } from '../../src/store/read-ahead.ts'

describe('reading ahead', () => {
  it('goes on while there is room, and waits for the oldest step when there is none', async () => {
    const ahead = new ReadAhead(10)
    const first = Promise.withResolvers<void>()
    await ahead.add(first.promise, 6)
    let hasRoom = false
    const second = ahead.add(Promise.resolve(), 6).then(() => {
      hasRoom = true
    })
    await new Promise(setImmediate)
    assert.equal(hasRoom, false)
    first.resolve()
    await second
    await ahead.end()
  })

  it('takes a step that is larger than the room, alone', async () => {
    const ahead = new ReadAhead(10)
    await ahead.add(Promise.resolve(), 1000)
    await ahead.end()
  })

  it('tells the failure of the oldest step, whichever failed first, and only when all have ended', async () => {
    const ahead = new ReadAhead(10)
    const [first, second, third] = [1, 2, 3].map(() => Promise.withResolvers<void>())
    for (const step of [first, second, third]) if (step) await ahead.add(step.promise, 1)
    second?.reject(new Error('second'))
    await new Promise(setImmediate)
    first?.reject(new Error('first'))
    let hasEnded = false
    const ended = ahead.end().finally(() => {
      hasEnded = true
    })
    ended.catch(() => {})
    await new Promise(setImmediate)
    assert.equal(hasEnded, false)
    third?.resolve()
    await assert.rejects(ended, { message: 'first' })
  })
})
