/** The memory for the bodies of all requests under way: what would go beyond it is refused, so that no crowd can fill it up. */

import { figure } from './figure.ts'
import { BODIES_A_TOKEN, BODIES_AT_ONCE } from './limits.ts'
import { Refusal } from './refusal.ts'

/** What the body of one request holds. It is given back when the request is answered. */
export interface BodyShare extends Disposable {
  /** Makes the share at least this large. Throws a Refusal when there is no room for it. */
  hold(bytes: number): void
}

/** Of a request whose body nobody reads. */
export const NO_SHARE: BodyShare = { hold() {}, [Symbol.dispose]() {} }

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
      [Symbol.dispose]: () => this.#remove(token, own),
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
  const detail = `${who} ${figure(held)} of the ${figure(maxBytes)} bytes that there are for bodies.`
  return new Refusal('service-busy', detail, { headers: { 'Retry-After': '1' } })
}
