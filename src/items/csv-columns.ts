/** What the columns of CSV hold, found by looking at every value: numbers, booleans, nothing, or text. */

import { keyFieldNames } from '../contract/key.ts'

export type ColumnType = 'text' | 'number' | 'boolean' | 'null'

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WHOLE = /^-?(?:0|[1-9]\d*)$/
const BOOLEAN = /^(?:true|false|TRUE|FALSE|True|False)$/
/** A double keeps so many digits of any number. */
const EXACT_DIGITS = 15

const NULL = /^(?:null|NULL)?$/

/** First all rows are looked at, then values are written as JSON. */
export class ColumnTypes {
  /** Undefined: nothing but nulls so far. */
  #types: (ColumnType | undefined)[] = []
  #names: readonly string[] = []
  #keyIndexes: readonly number[] = []
  /** How many rows were looked at. */
  rows = 0
  /** Set when all rows were looked at. */
  isKnown = false

  /** A number that is a key, or a part of it, has to be a whole one: where some are not, that column is text. */
  begin(names: readonly string[], keyField: string | null = null): void {
    this.#names = names
    this.#keyIndexes = keyField === null ? [] : keyFieldNames(keyField).map((name) => names.indexOf(name))
    this.#types = names.map(() => undefined)
  }

  /** Looks at the values of a row. */
  add(values: readonly string[]): void {
    this.rows++
    const types = this.#types
    for (let i = 0; i < values.length; i++) {
      if (types[i] === 'text') continue
      const value = values[i] as string
      const type = this.#keyIndexes.includes(i) && !WHOLE.test(value) ? 'text' : typeOf(value)
      if (type !== 'null' && type !== types[i]) types[i] = types[i] === undefined ? type : 'text'
    }
  }

  /** The columns of a type. */
  named(type: ColumnType): string[] {
    return this.#names.filter((_, index) => (this.#types[index] ?? 'null') === type)
  }

  /** The JSON of a value in the column at `index`; undefined for one that was not there when all were looked at. */
  json(value: string, index: number): string | undefined {
    const type = this.#types[index] ?? 'null'
    if (type === 'text') return JSON.stringify(value)
    const own = typeOf(value)
    if (own === 'null') return 'null'
    if (own !== type) return undefined
    return type === 'number' ? value : value.toLowerCase()
  }
}

function typeOf(value: string): ColumnType {
  if (NULL.test(value)) return 'null'
  if (BOOLEAN.test(value)) return 'boolean'
  return NUMBER.test(value) && isExact(value) ? 'number' : 'text'
}

/** Whether a reader that takes numbers for doubles gets this one, and would write the same number again. */
function isExact(value: string): boolean {
  if (value.length <= EXACT_DIGITS && !/e/i.test(value)) return true
  const number = Number(value)
  return Number.isFinite(number) && decimalOf(value) === decimalOf(String(number))
}

/** One text for each number, however it is written: its digits without zeros around them, and the place of the point. */
function decimalOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().replace(/^-/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  return significant === '' ? '0' : `${significant}e${Number(exponent) - fraction.length + digits.length}`
}
