/** Hands parts of a collection on, one after the other, while the next ones are being read. */

import type { Copy } from '../../store/copy.ts'
import type { KeyPosition, SealedReam, TailItem } from '../../store/stored-collection.ts'

export type Receiver = Pick<Copy, 'putReams' | 'putTail' | 'putKeys'>

/** Reams that go into one commit: what is lost by a stop, and has to be sent again. */
const BATCH_BYTES = 1024 * 1024

export class Sender {
  readonly #receiver: Receiver | undefined
  #reams: SealedReam[] = []
  #bytes = 0
  /** The part that is being written: the next one waits for it, so that what has arrived has no gaps. */
  #writing: Promise<void> = Promise.resolve()

  constructor(receiver: Receiver | undefined) {
    this.#receiver = receiver
  }

  async ream(ream: SealedReam): Promise<void> {
    if (this.#receiver === undefined) return
    this.#reams.push(ream)
    this.#bytes += ream.data.byteLength
    if (this.#bytes >= BATCH_BYTES) await this.#flush()
  }

  async tail(items: readonly TailItem[]): Promise<void> {
    await this.#flush()
    await this.#send((receiver) => receiver.putTail(items))
  }

  async keys(keys: readonly KeyPosition[]): Promise<void> {
    await this.#send((receiver) => receiver.putKeys(keys))
  }

  /** Resolves when all of it is written. */
  async end(): Promise<void> {
    await this.#flush()
    await this.#writing
  }

  /** Resolves when nothing is being written any more, whatever became of it. */
  async settle(): Promise<void> {
    await this.#writing.catch(() => {})
  }

  async #flush(): Promise<void> {
    if (this.#reams.length === 0) return
    const reams = this.#reams
    this.#reams = []
    this.#bytes = 0
    await this.#send((receiver) => receiver.putReams(reams))
  }

  /** Resolves when this may begin, not when it is done. */
  async #send(put: (receiver: Receiver) => Promise<void>): Promise<void> {
    if (this.#receiver === undefined) return
    await this.#writing
    this.#writing = put(this.#receiver)
    // It is awaited later: until then a failure must not count as one that nobody looks at.
    this.#writing.catch(() => {})
  }
}
