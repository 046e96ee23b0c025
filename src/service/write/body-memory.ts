/** A limit on the memory that the bodies of all running requests hold together. What goes beyond it is refused. */

import { BODIES_A_TOKEN, BODIES_AT_ONCE } from '../limits.ts'
import { formatNumber, RETRY, Refusal } from '../problem-reply.ts'

/** The part that one request holds. */
export interface BodyShare {
  /** Makes the share at least this large. Throws a Refusal when there is no room for it. */
  hold(bytes: number): void
  /** Gives all of it back. */
  release(): void
}

/** For a request whose body nobody reads. */
export const NO_SHARE: BodyShare = { hold() {}, release() {} }

/** One token gets half of it at most, so that it cannot keep others from writing. */
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
    const resize = (bytes: number): void => {
      this.#held += bytes - own
      const ofToken = (this.#heldByToken.get(token) ?? 0) + bytes - own
      if (ofToken > 0) this.#heldByToken.set(token, ofToken)
      else this.#heldByToken.delete(token)
      own = bytes
    }
    return {
      hold: (bytes) => {
        if (bytes <= own) return
        const [others, ofToken] = [this.#held - own, (this.#heldByToken.get(token) ?? 0) - own]
        if (ofToken + bytes > this.#maxTokenBytes)
          throw busy('Other requests with this token hold', ofToken, this.#maxTokenBytes)
        if (others + bytes > this.#maxBytes) throw busy('Other requests hold', others, this.#maxBytes)
        resize(bytes)
      },
      release: () => resize(0),
    }
  }
}

function busy(who: string, held: number, maxBytes: number): Refusal {
  const detail = `${who} ${formatNumber(held)} of the ${formatNumber(maxBytes)} bytes of memory for bodies.`
  return new Refusal('service-busy', detail, RETRY)
}
