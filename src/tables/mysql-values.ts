/** Values of MySQL and MariaDB as JSON, by the type of their column. */

import type { FieldPacket, TypeCast } from 'mysql2'
import { base64, jsonNumber } from './json-rows.ts'

/** As the driver answers, with DRIVER_OPTIONS. */
export type MysqlValue = string | number | Uint8Array | null

/** Everything exact, and nothing that a time zone could change. */
export const DRIVER_OPTIONS = {
  dateStrings: true,
  jsonStrings: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
}

/** Numbers of the protocol. */
const TYPE = {
  decimal: 0,
  tiny: 1,
  short: 2,
  long: 3,
  float: 4,
  double: 5,
  timestamp: 7,
  longlong: 8,
  int24: 9,
  date: 10,
  time: 11,
  datetime: 12,
  year: 13,
  bit: 16,
  vector: 242,
  json: 245,
  newdecimal: 246,
  geometry: 255,
}

const TYPES_PARSED_BY_DRIVER: readonly (number | undefined)[] = [TYPE.geometry, TYPE.vector]

/** Has the driver leave bytes as they are. A function costs time on every value: only where it is needed. */
export function typeCastFor(fields: readonly FieldPacket[]): TypeCast {
  if (!fields.some(({ columnType }) => TYPES_PARSED_BY_DRIVER.includes(columnType))) return true
  return (field, next) => (field.type === 'GEOMETRY' || field.type === 'VECTOR' ? field.buffer() : next())
}

/** Writes the values of a column. */
export function jsonWriter(field: FieldPacket): (value: MysqlValue) => string {
  const write = writerFor(field)
  return (value) => (value === null ? 'null' : write(value))
}

type Write = (value: string | number | Uint8Array) => string

function writerFor({ columnType, extendedFormat, decimals }: FieldPacket): Write {
  // In MariaDB, JSON is text with a check.
  if (extendedFormat === 'json') return (value) => jsonOrString(String(value))
  switch (columnType) {
    case TYPE.tiny:
    case TYPE.short:
    case TYPE.int24:
    case TYPE.long:
    case TYPE.longlong:
    case TYPE.year:
    case TYPE.json:
      return String
    case TYPE.decimal:
    case TYPE.newdecimal:
      return (value) => withoutZeros(String(value))
    case TYPE.float:
      return (value) => (decimals < ANY_DECIMALS ? fixedText(Number(value), decimals) : floatText(Number(value)))
    case TYPE.double:
      return (value) => jsonNumber(decimals < ANY_DECIMALS ? withoutNoise(Number(value), decimals) : Number(value))
    case TYPE.date:
      return (value) => `"${value}"`
    case TYPE.time:
      return (value) => `"${withFraction(String(value), decimals)}"`
    case TYPE.datetime:
      return (value) => `"${dateTime(String(value), decimals)}"`
    case TYPE.timestamp:
      return (value) => `"${dateTime(String(value), decimals)}Z"`
    case TYPE.bit:
      return (value) => (typeof value === 'object' ? wholeNumber(value) : String(value))
    default:
      return (value) => (typeof value === 'object' ? base64(value) : JSON.stringify(value))
  }
}

function wholeNumber(bytes: Uint8Array): string {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`).toString()
}

/** A column with ZEROFILL has zeros in front, which JSON does not allow. */
function withoutZeros(decimal: string): string {
  return decimal.startsWith('0') ? decimal.replace(/^0+(?=[0-9])/, '') : decimal
}

/** A float has 6 to 9 digits: as few as it takes to read the same float back. */
function floatText(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits))
    if (Math.fround(rounded) === value) return jsonNumber(rounded)
  }
  return jsonNumber(Number(value.toPrecision(9)))
}

/** Stands for as many as the value has; less is the D of FLOAT(M,D) and DOUBLE(M,D), which the server shows. */
const ANY_DECIMALS = 31

function fixedText(value: number, decimals: number): string {
  return jsonNumber(Number(value.toFixed(decimals)))
}

/** DOUBLE(M,D) keeps -0.1234 as -0.12339999999999995. An expression may have more digits than it is said to have. */
function withoutNoise(value: number, decimals: number): number {
  const rounded = Number(value.toFixed(decimals))
  return Math.abs(rounded - value) <= Number.EPSILON * Math.max(1, Math.abs(value)) ? rounded : value
}

function dateTime(text: string, decimals: number): string {
  return withFraction(text.replace(' ', 'T'), decimals)
}

/** More than this stands for an expression that does not know. */
const MAX_DECIMALS = 6

/** The driver leaves out zeros at the end. */
function withFraction(text: string, decimals: number): string {
  if (decimals === 0 || decimals > MAX_DECIMALS) return text
  const dot = text.indexOf('.')
  return dot === -1 ? `${text}.${'0'.repeat(decimals)}` : text.padEnd(dot + 1 + decimals, '0')
}

/** The check can be turned off, and is not strict. */
function jsonOrString(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return JSON.stringify(text)
  }
  // Line breaks are between two tokens, and an item is a line.
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, ' ') : text
}
