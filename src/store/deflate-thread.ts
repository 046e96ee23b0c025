/** A thread that deflates: raw items lie at the beginning of shared memory, the ream's bytes go behind them. */

import { freeMemory } from '../items/item-run.ts'
import type { DeflateCall, DeflateReply } from './deflate-pool.ts'
import { encodeReam } from './ream.ts'
import { answerCalls } from './thread.ts'

answerCalls<DeflateCall, DeflateReply>(({ memory, rawLength, count }) => {
  const { crc, data } = encodeReam(new Uint8Array(memory, 0, rawLength), count)
  const dataLength = data.byteLength
  new Uint8Array(memory, rawLength).set(data)
  freeMemory(data)
  return { reply: { count, rawLength, crc, dataLength } }
})
