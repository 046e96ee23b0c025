import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inOrder } from '../../src/client/in-order.ts'

/** Reads that the test ends, by their number. */
class Reads {
  readonly begun: number[] = []
  readonly signals: AbortSignal[] = []
  readonly #ends = new Map<number, PromiseWithResolvers<number>>()

  readonly read = (number: number, signal: AbortSignal): Promise<number> => {
    this.begun.push(number)
    this.signals.push(signal)
    const end = Promise.withResolvers<number>()
    this.#ends.set(number, end)
    return end.promise
  }

  end(...numbers: number[]): void {
    for (const number of numbers) this.#ends.get(number)?.resolve(number)
  }

  fail(number: number, error: Error): void {
    this.#ends.get(number)?.reject(error)
  }

  get isAborted(): boolean {
    return this.signals.every(({ aborted }) => aborted)
  }
}

describe('pages that are read ahead', () => {
  it('come in order, however their answers come, with no more than so many ahead', async () => {
    const reads = new Reads()
    const pages = inOrder(2, 6, 2, reads.read)
    const second = pages.next()
    assert.deepEqual(reads.begun, [2, 3])
    reads.end(3, 2)
    assert.equal((await second).value, 2)
    assert.deepEqual(reads.begun, [2, 3, 4])
    assert.equal((await pages.next()).value, 3)
    assert.deepEqual(reads.begun, [2, 3, 4, 5])
    reads.end(4, 5)
    assert.deepEqual([(await pages.next()).value, (await pages.next()).value], [4, 5])
    reads.end(6)
    assert.deepEqual([(await pages.next()).value, (await pages.next()).done], [6, true])
    assert.deepEqual(reads.begun, [2, 3, 4, 5, 6])
  })

  it('are aborted when nobody wants more', async () => {
    const reads = new Reads()
    const pages = inOrder(1, 9, 3, reads.read)
    const first = pages.next()
    reads.end(1)
    await first
    assert.equal(reads.isAborted, false)
    await pages.return()
    assert.ok(reads.isAborted)
  })

  it('are aborted when one fails, whose error comes in its turn', async () => {
    const reads = new Reads()
    const pages = inOrder(1, 9, 3, reads.read)
    const first = pages.next()
    const failure = new Error('lost')
    reads.fail(2, failure)
    reads.end(1)
    assert.equal((await first).value, 1)
    await assert.rejects(pages.next(), failure)
    assert.ok(reads.isAborted)
  })

  it('are aborted with the reason of the signal', async () => {
    const reads = new Reads()
    const controller = new AbortController()
    const pages = inOrder(1, 9, 3, reads.read, controller.signal)
    void pages.next()
    controller.abort('enough')
    assert.equal(reads.signals[0]?.reason, 'enough')
    reads.end(1)
    await pages.return()
  })
})
