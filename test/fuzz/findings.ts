/** What went wrong: every kind of it once, with cases that show it. */

/** Cases that are remembered of each kind. */
const MAX_CASES = 5

export interface Finding {
  /** What went wrong, without what differs from case to case. */
  readonly flaw: string
  /** The numbers of the first cases that show it. */
  readonly cases: number[]
  count: number
  /** What the first one looked like. */
  readonly details: string
}

export class Findings {
  readonly #all = new Map<string, Finding>()
  readonly #onFirst: (finding: Finding) => void

  /** `onFirst` is told of the first of every kind. */
  constructor(onFirst: (finding: Finding) => void = () => {}) {
    this.#onFirst = onFirst
  }

  /** The first line of `flaw` says what went wrong; what follows belongs to the details. */
  add(flaw: string, numbers: readonly number[] = [], details = ''): void {
    const [what = '', ...more] = flaw.split('\n')
    const known = this.#all.get(what)
    const finding = known ?? { flaw: what, cases: [], count: 0, details: [...more, details].filter(Boolean).join('\n') }
    finding.count++
    if (finding.cases.length < MAX_CASES) finding.cases.push(...numbers)
    if (known !== undefined) return
    this.#all.set(what, finding)
    this.#onFirst(finding)
  }

  get all(): Finding[] {
    return [...this.#all.values()]
  }
}

export function shown(bytes: Buffer, most: number = 2_000): string {
  const text = JSON.stringify(bytes.subarray(0, most).toString('latin1')).replace(/[\x7f-\xff]/g, escaped)
  return bytes.length > most ? `${text} and ${bytes.length - most} bytes more` : text
}

function escaped(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}
