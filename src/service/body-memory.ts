/** The memory for the bodies of all requests under way: what would go beyond it is refused, so that no crowd can fill it up. */

import { figure } from './figure.ts'
import { Refusal } from './refusal.ts'

/** What the body of one request holds. It is given back when the request is answered. */
export interface BodyShare extends Disposable {
  /** Makes the share at least this large. Throws a Refusal when the others leave no room for it. */
  hold(bytes: number): void
}

/** Of a request whose body nobody reads. */
export const NO_SHARE: BodyShare = { hold() {}, [Symbol.dispose]() {} }

export function createBodyMemory(mostBytes: number): () => BodyShare {
  let held = 0
  return () => {
    let own = 0
    return {
      hold(bytes) {
        if (bytes <= own) return
        if (held - own + bytes > mostBytes) throw tooBusy(held - own, mostBytes)
        held += bytes - own
        own = bytes
      },
      [Symbol.dispose]() {
        held -= own
        own = 0
      },
    }
  }
}

function tooBusy(held: number, mostBytes: number): Refusal {
  const detail = `Other requests hold ${figure(held)} of the ${figure(mostBytes)} bytes that there are for bodies.`
  return new Refusal('service-busy', detail, { headers: { 'Retry-After': '1' } })
}
