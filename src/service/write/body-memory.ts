/** The memory for the bodies of all requests under way: what would go beyond it is refused, so that no crowd can fill it up. */

import { BODIES_A_TOKEN, BODIES_AT_ONCE } from '../limits.ts'
import { formatNumber, RETRY, Refusal } from '../problem-reply.ts'

/** What the body of one request holds. */
export interface BodyShare {
  /** Makes the share at least this large. Throws a Refusal when there is no room for it. */
  hold(bytes: number): void
  /** Gives all of it back. */
  release(): void
}

/** Of a request whose body nobody reads. */
export const NO_SHARE: BodyShare = { hold() {}, release() {} }

/** A token has half of it at most: whoever holds one cannot keep the others from writing. */
export class BodyMemory {
  readonly #maxBytes: number
  readonly #maxTokenBytes: number
  #held = 0
  readonly #heldByToken = new Map<string, number>()

  /** `bodyBytes`: of the largest body. */
  constructor(bodyBytes: number) {
    this.#maxBytes = bodyBytes * BODIES_AT_ONCE
    this.#maxTokenBytes = bodyBytes * BODIES_A_TOKEN
  }

  share(token: string): BodyShare {
    let own = 0
    return {
      hold: (bytes) => {
        if (bytes <= own) return
        this.#add(token, own, bytes)
        own = bytes
      },
      release: () => this.#remove(token, own),
    }
  }

  /** Makes a share of `own` bytes one of `bytes`. */
  #add(token: string, own: number, bytes: number): void {
    const others = this.#held - own
    const othersOfToken = (this.#heldByToken.get(token) ?? 0) - own
    if (othersOfToken + bytes > this.#maxTokenBytes)
      throw busy('Other requests with this token hold', othersOfToken, this.#maxTokenBytes)
    if (others + bytes > this.#maxBytes) throw busy('Other requests hold', others, this.#maxBytes)
    this.#held = others + bytes
    this.#heldByToken.set(token, othersOfToken + bytes)
  }

  #remove(token: string, bytes: number): void {
    const left = (this.#heldByToken.get(token) ?? 0) - bytes
    this.#held -= bytes
    if (left > 0) this.#heldByToken.set(token, left)
    else this.#heldByToken.delete(token)
  }
}

function busy(who: string, held: number, maxBytes: number): Refusal {
  const detail = `${who} ${formatNumber(held)} of the ${formatNumber(maxBytes)} bytes that there are for bodies.`
  return new Refusal('service-busy', detail, RETRY)
}
