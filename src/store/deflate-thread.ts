/** A thread that deflates: raw items lie at the beginning of shared memory, the ream's bytes go behind them. */

import { parentPort } from 'node:worker_threads'
import { freeMemory } from './free-memory.ts'
import { encodeReam } from './ream.ts'
import type { ReamBytes } from './ream-bytes.ts'

export interface DeflateCall {
  readonly id: number
  readonly memory: SharedArrayBuffer
  readonly rawLength: number
  readonly count: number
}

/** The ream without its bytes, which are in the shared memory. */
export interface DeflateReply extends Omit<ReamBytes, 'data'> {
  readonly id: number
  readonly dataLength: number
}

parentPort?.on('message', ({ id, memory, rawLength, count }: DeflateCall) => {
  const { crc, data } = encodeReam(new Uint8Array(memory, 0, rawLength), count)
  const dataLength = data.byteLength
  new Uint8Array(memory, rawLength).set(data)
  freeMemory(data)
  const reply: DeflateReply = { id, count, rawLength, crc, dataLength }
  parentPort?.postMessage(reply)
})
