/** What a check of the history found wrong, counted by kind. */

export type FindingKind = 'lost' | 'doubled' | 'partial' | 'foreign' | 'other'

/** More of them do not make a failure clearer. */
const MAX_MESSAGES = 20
const MAX_CHARACTERS = 300

export class Findings {
  readonly counts: Record<FindingKind, number> = { lost: 0, doubled: 0, partial: 0, foreign: 0, other: 0 }
  readonly #all = new Set<string>()

  /** The same again, as after the next round, counts once. */
  add(kind: FindingKind, message: string): void {
    const text = `${kind}: ${message}`
    if (!this.#all.has(text)) this.counts[kind]++
    this.#all.add(text)
  }

  get total(): number {
    return this.#all.size
  }

  /** The first ones, in words. */
  get messages(): string[] {
    return [...this.#all].slice(0, MAX_MESSAGES).map((text) => text.slice(0, MAX_CHARACTERS))
  }
}
