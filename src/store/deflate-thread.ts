/** A thread that deflates: raw items lie at the beginning of shared memory, the ream's bytes go behind them. */

import { parentPort } from 'node:worker_threads'
import { freeMemory } from '../items/item-run.ts'
import { type DeflateCall, type DeflateReply, END } from './deflate-pool.ts'
import { encodeReam } from './ream.ts'

parentPort?.on('message', (message: DeflateCall | typeof END) => {
  if (message === END) parentPort?.close()
  else deflate(message)
})

function deflate({ id, memory, rawLength, count }: DeflateCall): void {
  const { crc, data } = encodeReam(new Uint8Array(memory, 0, rawLength), count)
  const dataLength = data.byteLength
  new Uint8Array(memory, rawLength).set(data)
  freeMemory(data)
  const reply: DeflateReply = { id, count, rawLength, crc, dataLength }
  parentPort?.postMessage(reply)
}
