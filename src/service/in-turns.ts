/** Long work in steps, with whatever else waits in between: a read must not wait until a large body is done with. */

import { setImmediate } from 'node:timers/promises'
import type { Body } from './body.ts'

/** The pieces of a body, with a turn of the event loop before each but the first. */
export async function* inTurns({ pieces }: Body): AsyncGenerator<Uint8Array> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await setImmediate()
    yield piece
  }
}
