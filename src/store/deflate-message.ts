/** What goes between a pool and its threads that deflate. */

import type { ReamBytes } from './ream.ts'

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

/** Asks the thread to end. */
export const END = 'end'
