/** A thread that makes reams of the raw items which it finds in shared memory. */

import { parentPort } from 'node:worker_threads'
import { encodeReam, type ReamBytes } from './ream.ts'

export interface DeflateCall {
  readonly slot: number
  readonly memory: SharedArrayBuffer
  readonly length: number
  readonly count: number
}

export interface DeflateReply {
  readonly slot: number
  readonly ream: ReamBytes
}

parentPort?.on('message', ({ slot, memory, length, count }: DeflateCall) => {
  const reply: DeflateReply = { slot, ream: encodeReam(new Uint8Array(memory, 0, length), count) }
  parentPort?.postMessage(reply)
})
