/** A thread that deflates: raw items lie at the beginning of shared memory, the ream's bytes go behind them. Or it changes reams. */

import type { EditCall, EditReply, ReamCall, ReamReply } from './deflate-pool.ts'
import { encodeReam } from './ream.ts'
import { sealReam } from './ream-draft.ts'
import { answerCalls } from './thread.ts'

answerCalls(() => ({ answer }))

function answer(call: ReamCall | EditCall): { reply: ReamReply | EditReply; memory?: ArrayBuffer[] } {
  if ('edits' in call) {
    const sealed = call.edits.map(sealReam)
    return { reply: { sealed }, memory: sealed.map(({ data }) => data.buffer as ArrayBuffer) }
  }
  const { memory, rawLength, count } = call
  const { data, ...ream } = encodeReam(new Uint8Array(memory, 0, rawLength), count, new Uint8Array(memory, rawLength))
  return { reply: { ...ream, dataLength: data.byteLength } }
}
