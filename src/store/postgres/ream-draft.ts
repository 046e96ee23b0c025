/** A sealed ream that is being changed. It is looked into as late as possible: a commit may change thousands. */

import { changeReam, itemInSlot, type OpenReam, openReam } from '../open-ream.ts'
import type { SealedReam } from '../ream.ts'
import { damagedReam } from '../ream.ts'

export class ReamDraft {
  readonly number: number
  /** As it is stored, or a new one. */
  readonly #origin: SealedReam | OpenReam
  readonly #changes = new Map<number, string | null>()

  constructor(number: number, origin: SealedReam | OpenReam) {
    this.number = number
    this.#origin = origin
  }

  item(slot: number): string {
    const changed = this.#changes.get(slot)
    if (changed === null) throw damagedReam()
    return changed ?? Buffer.from(itemInSlot(this.#open(), slot)).toString()
  }

  /** Replaces the item in a slot, or removes it. */
  put(slot: number, text: string | null): void {
    this.#changes.set(slot, text)
  }

  content(): OpenReam {
    return this.#changes.size === 0 ? this.#open() : changeReam(this.#open(), this.#changes)
  }

  #open(): OpenReam {
    return 'data' in this.#origin ? openReam(this.#origin) : this.#origin
  }
}
