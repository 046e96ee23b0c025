/** What the columns of CSV hold, found by looking at every value: numbers, booleans, dates, nothing, or text. */

import { keyFieldNames } from '../contract/key.ts'

/** A date stays text. */
export type ColumnType = 'text' | 'number' | 'boolean' | 'null' | 'date'

/** What becomes of a column in which every value is of one type. */
export interface Conversions {
  /** Numbers, booleans and nulls become JSON values instead of strings. Default: true. */
  readonly isTyped?: boolean | undefined
  /** The decimal mark of numbers; a comma becomes a point. Default: point. */
  readonly decimal?: 'point' | 'comma' | undefined
  /** `dmy`: 31.12.2025 becomes 2025-12-31. Default: dates are text like any other. */
  readonly dates?: 'dmy' | undefined
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WHOLE = /^-?(?:0|[1-9]\d*)$/
const BOOLEAN = /^(?:true|false|TRUE|FALSE|True|False)$/
/** A double keeps so many digits of any number. */
const EXACT_DIGITS = 15

const NULL = /^(?:null|NULL)?$/

/** A number with points between groups of three digits. */
const GROUPED = /^-?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?$/
const UNGROUPED = /^-?\d{4}/
const DAY_MONTH_YEAR = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/

/** First all rows are looked at, then values are written as JSON. */
export class ColumnTypes {
  /** Undefined: nothing but nulls so far. */
  #types: (ColumnType | undefined)[] = []
  /** The columns with numbers such as 1,5, as 1.234 and as 1234: only where a comma is the decimal mark. */
  readonly #commas = new Set<number>()
  readonly #groups = new Set<number>()
  readonly #ungrouped = new Set<number>()
  readonly #isTyped: boolean
  readonly #hasCommas: boolean
  readonly #hasDates: boolean
  #names: readonly string[] = []
  #keyIndexes: readonly number[] = []
  /** How many rows were looked at. */
  rows = 0
  /** Whether all rows were looked at. */
  isKnown = false

  constructor({ isTyped = true, decimal, dates }: Conversions = {}) {
    this.#isTyped = isTyped
    this.#hasCommas = decimal === 'comma'
    this.#hasDates = dates === 'dmy'
  }

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
      let type = this.#typeOf(value)
      if (type !== 'date' && this.#keyIndexes.includes(i) && !WHOLE.test(value)) type = 'text'
      if (type !== 'null' && type !== types[i]) types[i] = types[i] === undefined ? type : 'text'
      if (type === 'number' && this.#hasCommas) this.#noteForm(value, i)
    }
  }

  /** All rows were looked at. */
  end(): void {
    // 1.234 can be a group or a decimal: only a comma elsewhere in the column tells, and only if all numbers have groups.
    for (const index of this.#groups)
      if (this.#ungrouped.has(index) || !this.#commas.has(index)) this.#types[index] = 'text'
    this.isKnown = true
  }

  /** The columns of a type. */
  named(type: ColumnType): string[] {
    return this.#names.filter((_, index) => (this.#types[index] ?? 'null') === type)
  }

  /** The names of the columns whose values are converted. */
  get converted(): string[] {
    const isConverted = (type?: ColumnType, index = 0) =>
      type === 'date' || (type === 'number' && this.#commas.has(index))
    return this.#names.filter((_, index) => isConverted(this.#types[index], index))
  }

  /** The JSON of a value in the column at `index`; undefined for one that was not there when all were looked at. */
  json(value: string, index: number): string | undefined {
    const type = this.#types[index] ?? 'null'
    if (type === 'text') return JSON.stringify(value)
    const own = this.#typeOf(value)
    if (own !== 'null' && own !== type) return undefined
    if (type === 'date') return JSON.stringify(isoDate(value) ?? value)
    const text = own === 'number' ? this.#withPoint(value) : value
    if (!this.#isTyped) return JSON.stringify(text)
    if (own === 'null') return 'null'
    return own === 'number' ? text : text.toLowerCase()
  }

  #typeOf(value: string): ColumnType {
    if (NULL.test(value)) return 'null'
    if (BOOLEAN.test(value)) return 'boolean'
    const number = this.#withPoint(value)
    if (NUMBER.test(number) && (!this.#isTyped || isExact(number))) return 'number'
    return this.#hasDates && isoDate(value) !== undefined ? 'date' : 'text'
  }

  /** A number as JSON writes it; '' for one in which a point does not separate groups as it has to. */
  #withPoint(value: string): string {
    if (!this.#hasCommas) return value
    if (!value.includes('.')) return value.replace(',', '.')
    return GROUPED.test(value) ? value.replaceAll('.', '').replace(',', '.') : ''
  }

  #noteForm(number: string, index: number): void {
    if (number.includes(',')) this.#commas.add(index)
    if (number.includes('.')) this.#groups.add(index)
    if (UNGROUPED.test(number)) this.#ungrouped.add(index)
  }
}

/** Undefined for what is no date, such as 31.02.2025. */
function isoDate(value: string): string | undefined {
  const [, day = '', , month = '', year] = DAY_MONTH_YEAR.exec(value) ?? []
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const time = year === undefined ? Number.NaN : Date.parse(`${iso}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso) ? iso : undefined
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
