/** The reams that the calls of one commit change: each is inflated once, and deflated and written once, at its end. */

import { changeReam, type OpenReam, openReam, type SlotChanges } from '../open-ream.ts'
import { encodeReam } from '../ream.ts'
import { damage } from './damage.ts'
import { withSum } from './row-sum.ts'
import type { Rows } from './rows.ts'
import { REAM, readReam, type Shelf, shelfStart } from './stored-ream.ts'

/** Not an upsert: should the collection be dropped and swept in the same commit, nothing of it comes back. */
const UPDATE_REAM = `
  UPDATE ream SET count = ?4, raw_length = ?5, crc = ?6, gone = ?7, data = ?8, sum = ?9
  WHERE collection_id = ?1 AND generation = ?2 AND number = ?3`

/** Kept open, at most: some four hundred usual reams. One of large items can be larger by itself; it is written at once. */
const MAX_BYTES = 32 * 1024 * 1024

interface PlacedReam extends OpenReam {
  readonly shelf: Shelf
  readonly number: number
}

export class OpenReams {
  readonly #rows: Rows
  /** Exchanged, never changed: so a call that fails is undone by what was here before it. */
  state: ReadonlyMap<string, PlacedReam> = new Map()

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** For whoever is about to change it: what is open is written. */
  open(shelf: Shelf, number: number): OpenReam {
    const ream = this.state.get(placeOf(shelf, number))
    if (ream !== undefined) return ream
    const stored = readReam(this.#rows, shelf, number)
    if (stored === undefined) throw damage(shelf.name, `Ream ${number} is missing.`)
    return this.#keep(shelf, number, openReam(stored))
  }

  change(shelf: Shelf, number: number, changes: SlotChanges): void {
    this.#keep(shelf, number, changeReam(this.open(shelf, number), changes))
    let bytes = 0
    for (const { raw } of this.state.values()) bytes += raw.byteLength
    if (bytes > MAX_BYTES) this.write()
  }

  /** Writes all that are open, and closes them. */
  write(): void {
    for (const { shelf, number, raw, count, gone } of this.state.values()) {
      const { rawLength, crc, data } = encodeReam(raw, count)
      this.#rows.run(UPDATE_REAM, ...withSum(shelfStart(REAM, shelf), number, count, rawLength, crc, gone, data))
    }
    this.state = new Map()
  }

  #keep(shelf: Shelf, number: number, ream: OpenReam): OpenReam {
    this.state = new Map(this.state).set(placeOf(shelf, number), { ...ream, shelf, number })
    return ream
  }
}

function placeOf({ id, generation }: Shelf, number: number): string {
  return `${id}/${generation}/${number}`
}
