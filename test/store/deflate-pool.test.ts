import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { DeflatePool } from '../../src/store/deflate-pool.ts'
import { encodeReam, inflate } from '../../src/store/ream.ts'
import { ReamDraft } from '../../src/store/ream-draft.ts'

it('reads reams that are changed when it is their turn, so that a commit can change more of them than memory holds', async () => {
  const [pool, item] = [new DeflatePool(), JSON.stringify(randomBytes(1_500_000).toString('base64'))]
  const { data, ...stored } = encodeReam(Buffer.from(`${item},\n${item}`), 2)
  let [read, made, most] = [0, 0, 0]
  const drafts = Array.from({ length: 40 }, (_, number) => {
    const draft = new ReamDraft(number, () => {
      most = Math.max(most, ++read - made)
      return { ...stored, data: Uint8Array.from(data), number, gone: null }
    })
    draft.put(1, '{}')
    return draft
  })
  for await (const ream of pool.seal(drafts)) {
    assert.equal(ream.number, made++)
    if (made === 1) assert.equal(inflate(ream).toString(), `${item},\n{}`)
  }
  await pool.close()
  assert.equal(made, 40)
  assert.ok(most < 20, `${most} at the same time`)
})

it('reads a ream again whose thread failed, and says what is wrong with it', async () => {
  const pool = new DeflatePool()
  const { data, ...stored } = encodeReam(Buffer.from('{"a":1},\n{"a":2}'), 2)
  let read = 0
  const drafts = Array.from({ length: 16 }, (_, number) => {
    const draft = new ReamDraft(number, () => {
      read++
      const bytes = Uint8Array.from(data)
      if (number === 9) bytes.fill(0xff)
      return { ...stored, data: bytes, number, gone: null }
    })
    draft.put(1, '{}')
    return draft
  })
  await assert.rejects(
    async () => {
      for await (const ream of pool.seal(drafts)) assert.fail(`ream ${ream.number} was made`)
    },
    { code: 'corrupt' },
  )
  await pool.close()
  assert.ok(read > drafts.length, 'not all were read again')
})
