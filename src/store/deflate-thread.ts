/** A thread that deflates: raw items lie at the beginning of shared memory, the ream's bytes go behind them. Or it makes quires. */

import type { EditCall, EditReply, ReamCall, ReamReply } from './deflate-pool.ts'
import { encodeReam } from './ream.ts'
import { editQuire } from './ream-draft.ts'
import { answerCalls } from './thread.ts'

answerCalls<ReamCall | EditCall, ReamReply | EditReply>((call) => {
  if ('edits' in call) return { reply: { made: call.edits.map(editQuire) } }
  const { memory, rawLength, count } = call
  const { data, ...ream } = encodeReam(new Uint8Array(memory, 0, rawLength), count, new Uint8Array(memory, rawLength))
  return { reply: { ...ream, dataLength: data.byteLength } }
})
