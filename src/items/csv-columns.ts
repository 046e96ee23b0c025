/** What the columns of CSV hold, found by looking at every value: numbers, booleans, nothing, or text. */

export type ColumnType = 'text' | 'number' | 'boolean' | 'null'

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const BOOLEAN = /^(?:true|false|TRUE|FALSE|True|False)$/
const NULL = /^(?:null|NULL)?$/

/** Every reader keeps this many digits of a number. */
const EXACT_DIGITS = 15

/** First all rows are looked at, then values are written as JSON. */
export class ColumnTypes {
  /** Undefined: nothing but nulls so far. */
  #types: (ColumnType | undefined)[] = []
  #names: readonly string[] = []
  /** How many rows were looked at. */
  rows = 0
  /** Set when all rows were looked at. */
  isKnown = false

  begin(names: readonly string[]): void {
    this.#names = names
    this.#types = names.map(() => undefined)
  }

  /** Looks at the values of a row. */
  add(values: readonly string[]): void {
    this.rows++
    const types = this.#types
    for (let i = 0; i < values.length; i++) {
      if (types[i] === 'text') continue
      const type = typeOf(values[i] as string)
      if (type !== 'null' && type !== types[i]) types[i] = types[i] === undefined ? type : 'text'
    }
  }

  /** The columns of a type. */
  named(type: ColumnType): string[] {
    return this.#names.filter((_, index) => (this.#types[index] ?? 'null') === type)
  }

  /** The JSON of a value in the column at `index`. */
  json(value: string, index: number): string {
    const type = this.#types[index] ?? 'null'
    if (type === 'text') return JSON.stringify(value)
    if (NULL.test(value)) return 'null'
    return type === 'number' ? value : value.toLowerCase()
  }
}

function typeOf(value: string): ColumnType {
  if (NULL.test(value)) return 'null'
  if (BOOLEAN.test(value)) return 'boolean'
  return NUMBER.test(value) && isExact(value) ? 'number' : 'text'
}

/** Whether a reader that takes numbers for doubles gets this one as it was written. */
function isExact(value: string): boolean {
  const [mantissa = ''] = value.split(/e/i, 1)
  const digits = mantissa.replace(/\D/g, '').replace(/^0+/, '')
  const number = Number(value)
  if (digits === '') return true
  if (digits.length > EXACT_DIGITS) return /^-?\d+$/.test(value) && Number.isSafeInteger(number)
  return Number.isFinite(number) && number !== 0
}
