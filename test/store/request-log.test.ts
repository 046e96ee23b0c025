import assert from 'node:assert/strict'
import { it } from 'node:test'
import { RequestLog } from '../../src/store/request-log.ts'

it('a request is a repeat only of one to the same collection, with the same content', () => {
  const log = new RequestLog('events')
  log.add([{ key: 'a', collectionId: 1, digest: 'x', outcome: 'first' }])
  const run = (id: number, digest: string) =>
    log.runIdempotent(
      { key: 'a', digest },
      () => id,
      () => 'again',
    )
  assert.equal(run(1, 'x'), 'first')
  assert.throws(() => run(1, 'y'), { code: 'request-differs' })
  assert.equal(log.isChanged, false)
  assert.equal(run(2, 'y'), 'again')
  assert.equal(log.isChanged, true)
})
