/** What was appended to the log with which answer, and whether the log agrees in the end. */

interface Batch {
  readonly ids: readonly string[]
  isAcknowledged: boolean
  /** Sent, and the answer never came. */
  isUnknown: boolean
}

export class Ledger {
  readonly #batches = new Map<string, Batch>()

  /** 201 answers a POST that was done, 200 a PATCH. Status undefined: there was no answer. */
  note(ids: readonly string[], status: number | undefined): void {
    const [first = ''] = ids
    const batch = this.#batches.get(first) ?? { ids, isAcknowledged: false, isUnknown: false }
    batch.isAcknowledged ||= status === 201 || status === 200
    batch.isUnknown ||= status === undefined
    this.#batches.set(first, batch)
  }

  get acknowledged(): number {
    return this.#batches.values().reduce((sum, { ids, isAcknowledged }) => sum + (isAcknowledged ? ids.length : 0), 0)
  }

  /** What is wrong with the log, given the ids of all its items. */
  check(found: readonly string[]): string[] {
    const counts = new Map<string, number>()
    for (const id of found) counts.set(id, (counts.get(id) ?? 0) + 1)
    return [...this.#batches.values()].flatMap((batch) => flawOf(batch, counts) ?? [])
  }
}

function flawOf({ ids, isAcknowledged, isUnknown }: Batch, all: ReadonlyMap<string, number>): string | undefined {
  const counts = ids.map((id) => all.get(id) ?? 0)
  const name = `the append of ${ids[0]} and ${ids.length - 1} more`
  if (counts.some((count) => count > 1)) return `${name} is there twice`
  const there = counts.filter((count) => count === 1).length
  if (there > 0 && there < ids.length) return `${name} is only partly there`
  if (isAcknowledged && there === 0) return `${name} was acknowledged and is not there`
  return !isAcknowledged && !isUnknown && there > 0 ? `${name} was refused and is there` : undefined
}
