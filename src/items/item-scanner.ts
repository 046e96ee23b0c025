/** The rule for items (D9) and their keys: what is taken, and what is refused with which reason. */

import { keyFieldNames } from '../contract/key.ts'
import { describeFault, JsonScanner, MAX_DEPTH, stringAt, WatchedMember } from './json-scan.ts'

/** Bytes of one item, at most, unless a setting says otherwise. */
export const DEFAULT_ITEM_BYTES = 256 * 1024

/** How far the limit can be raised: 500 items of this size are still one ream that SQLite can hold as a value. */
export const MAX_ITEM_BYTES = 1024 * 1024

/** Bytes of a key in UTF-8, at most. */
export const MAX_KEY_BYTES = 1024

export interface ItemOptions {
  /** The field that identifies an item, or several, as `a,b`; null for none, which is the default. */
  readonly keyField?: string | null
  /** Bytes of one item, at most. Default DEFAULT_ITEM_BYTES. */
  readonly itemBytes?: number
}

/** For a text that is read as items are, and may be none. */
export interface TextOptions extends ItemOptions {
  /** Arrays and objects within one another, at most. Default MAX_DEPTH. */
  readonly maxDepth?: number
}

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b

/** What is wrong: the text is not one JSON object, it is too large, or its key cannot be one. */
export type ItemErrorKind = 'form' | 'size' | 'key'

/** Thrown for a text that is not an item, or has no key where one is needed. */
export class ItemError extends Error {
  override readonly name = 'ItemError'
  readonly kind: ItemErrorKind
  /** Reads well after "line 17: ". */
  readonly reason: string
  /** Where in the item it is wrong, in bytes from its beginning. */
  readonly offset: number

  constructor(kind: ItemErrorKind, reason: string, offset = 0, message = reason) {
    super(message)
    this.kind = kind
    this.reason = reason
    this.offset = offset
  }
}

/** Checks items in UTF-8, one after the other; its fields tell about the one checked last. */
export class ItemScanner {
  readonly keyField: string | null
  readonly itemBytes: number
  /** The key in UTF-8: the first `keyLength` bytes. */
  key = new Uint8Array(0)
  keyLength = 0
  /** Whether a raw line break stands in or around the item. It can only be a blank between tokens. */
  hasLineBreak = false
  readonly #keyMembers: readonly WatchedMember[]
  readonly #json: JsonScanner
  readonly #encoder = new TextEncoder()

  constructor(options: TextOptions = {}) {
    this.keyField = options.keyField ?? null
    this.itemBytes = options.itemBytes ?? DEFAULT_ITEM_BYTES
    if (this.keyField !== null && !this.keyField.isWellFormed())
      throw new TypeError('Invalid key field: it contains a lone surrogate, so no item can have it.')
    const names = this.keyField === null ? [] : keyFieldNames(this.keyField)
    this.#keyMembers = names.map((name) => new WatchedMember(name))
    this.#json = new JsonScanner(...this.#keyMembers)
    this.#json.maxDepth = options.maxDepth ?? MAX_DEPTH
  }

  /** Whether `find` gave -1 only because the bytes end before the object does. */
  get isCutOff(): boolean {
    return this.#json.fault === 'end'
  }

  /** The offset after the object that begins at `start`, where a { must stand; -1 if it is not whole and right before `end`. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const after = this.#json.scan(bytes, start, end)
    this.hasLineBreak = this.#json.hasLineBreak
    return after
  }

  /** The reason why `find` gave -1 for the object that begins at `start`. */
  fault(bytes: Uint8Array, start: number): ItemError {
    return new ItemError('form', describeFault(this.#json, bytes, start), this.#json.faultAt - start)
  }

  /** The error for an item above the limit; without a size, for one that was not read to its end. */
  tooLarge(size?: number): ItemError {
    const limit = this.itemBytes.toLocaleString('en-US')
    const most = MAX_ITEM_BYTES.toLocaleString('en-US')
    const advice =
      Math.max(this.itemBytes + 1, size ?? 0) > MAX_ITEM_BYTES
        ? `make it smaller: no item can have more than ${most}`
        : `make it smaller, or raise the limit with the setting item-bytes, up to ${most}`
    const sizes = size === undefined ? `more than ${limit} bytes` : `${size.toLocaleString('en-US')} bytes`
    return new ItemError('size', `the item has ${sizes}, the limit is ${limit}; ${advice}`)
  }

  /** Throws an ItemError unless the bytes from `start` to `end` are one item, blanks around it allowed, with a key if one is needed. */
  check(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > this.itemBytes) throw this.tooLarge(end - start)
    const first = skipBlanks(bytes, start, end)
    if (first === end) throw new ItemError('form', 'it is empty')
    const after = this.find(bytes, first, end)
    if (bytes[first] !== OPEN_OBJECT) throw this.#notAnObject(bytes, start, first, after)
    if (after < 0) throw this.fault(bytes, start)
    const rest = skipBlanks(bytes, after, end)
    if (rest < end) throw new ItemError('form', 'something follows the object', rest - start)
    this.hasLineBreak ||= hasLineBreak(bytes, start, first) || hasLineBreak(bytes, after, end)
    this.readKey(bytes)
  }

  /** Reads the key of the object that was found last; throws an ItemError if it has none that can be one. */
  readKey(bytes: Uint8Array): void {
    const members = this.#keyMembers
    const first = members[0]
    if (first === undefined) return
    this.keyLength = 0
    this.#readValue(bytes, first)
    if (members.length > 1) this.#readOthers(bytes)
    else if (bytes[first.start] === QUOTE) this.#checkOnly(first)
    if (this.keyLength > MAX_KEY_BYTES) throw this.#tooLong()
  }

  /** The first part of a key of several fields was read; the others follow it. */
  #readOthers(bytes: Uint8Array): void {
    const members = this.#keyMembers
    this.#escapeFrom(0)
    for (let m = 1; m < members.length; m++) {
      this.#makeRoom(1)
      this.key[this.keyLength++] = COMMA
      const start = this.keyLength
      this.#readValue(bytes, members[m] as WatchedMember)
      this.#escapeFrom(start)
    }
  }

  #tooLong(): ItemError {
    const [length, limit] = [this.keyLength, MAX_KEY_BYTES].map((count) => count.toLocaleString('en-US'))
    const fields = this.#keyMembers.map(({ name }) => JSON.stringify(name))
    const which = fields.length === 1 ? `field ${fields}` : `of the fields ${fields.join(', ')}`
    return new ItemError('key', `the key ${which} has ${length} bytes; a key has at most ${limit}`)
  }

  #readValue(bytes: Uint8Array, member: WatchedMember): void {
    if (member.count === 0) throw keyError(member, `is missing${member.name.includes('.') ? NO_PATH : ''}`)
    if (member.count > 1) throw keyError(member, 'is given more than once')
    if (bytes[member.start] === QUOTE) this.#readString(bytes, member)
    else this.#readInteger(bytes, member)
  }

  #readString(bytes: Uint8Array, member: WatchedMember): void {
    const start = member.start + 1
    let end = start
    let hasEscape = false
    for (; bytes[end] !== QUOTE; end++)
      if (bytes[end] === BACKSLASH) {
        hasEscape = true
        end++
      }
    if (hasEscape) this.#appendText(stringAt(bytes, start - 1, end + 1) ?? '', end - start, member)
    else this.#appendBytes(bytes, start, end)
  }

  /** A string that is the whole key is also the end of a URL. */
  #checkOnly(member: WatchedMember): void {
    if (this.keyLength === 0) throw keyError(member, 'is empty')
    if (this.keyLength <= 2 && this.key[0] === DOT && (this.keyLength === 1 || this.key[1] === DOT))
      throw keyError(member, 'is "." or "..", which cannot be the end of a URL')
  }

  #readInteger(bytes: Uint8Array, member: WatchedMember): void {
    const { start } = member
    let end = bytes[start] === MINUS ? start + 1 : start
    while ((bytes[end] as number) >= DIGIT_0 && (bytes[end] as number) <= DIGIT_9) end++
    if (end === start) throw keyError(member, `is ${kindOf(bytes, start)}; ${KEY_RULE}`)
    if (isNumberPart(bytes[end])) throw keyError(member, `is a number with a fraction or an exponent; ${KEY_RULE}`)
    this.#appendBytes(bytes, start, end)
  }

  /** `maxLength`: bytes that it has at most. */
  #appendText(text: string, maxLength: number, member: WatchedMember): void {
    if (!text.isWellFormed()) throw keyError(member, 'contains a lone surrogate, which UTF-8 cannot express')
    if (text.includes('\0')) throw keyError(member, 'contains a NUL character, which is not allowed in a key')
    this.#makeRoom(maxLength)
    const room = this.keyLength === 0 ? this.key : this.key.subarray(this.keyLength)
    this.keyLength += this.#encoder.encodeInto(text, room).written
  }

  #appendBytes(bytes: Uint8Array, start: number, end: number): void {
    this.#makeRoom(end - start)
    const key = this.key
    let at = this.keyLength
    for (let i = start; i < end; i++) key[at++] = bytes[i] as number
    this.keyLength = at
  }

  /** Puts a backslash before each comma and backslash of the part that begins at `start`, as `joinKey` does. */
  #escapeFrom(start: number): void {
    let escapes = 0
    for (let i = start; i < this.keyLength; i++) if (isSeparating(this.key[i])) escapes++
    if (escapes === 0) return
    this.#makeRoom(escapes)
    const key = this.key
    let to = this.keyLength + escapes
    for (let i = this.keyLength - 1; i >= start; i--) {
      key[--to] = key[i] as number
      if (isSeparating(key[to])) key[--to] = BACKSLASH
    }
    this.keyLength += escapes
  }

  /** For so many bytes more. */
  #makeRoom(length: number): void {
    if (this.key.length >= this.keyLength + length) return
    const key = new Uint8Array(Math.max(this.keyLength + length, MAX_KEY_BYTES))
    key.set(this.key.subarray(0, this.keyLength))
    this.key = key
  }

  #notAnObject(bytes: Uint8Array, start: number, first: number, after: number): ItemError {
    const isClear = after >= 0 || bytes[first] === QUOTE || bytes[first] === 0x5b
    return isClear ? new ItemError('form', `it is ${kindOf(bytes, first)}, not an object`) : this.fault(bytes, start)
  }
}

/** Reads the key of one item after the other. Throws an ItemError for one that has none. */
export function keyReader(keyField: string): (item: Uint8Array) => string {
  const scanner = new ItemScanner({ keyField, itemBytes: Number.MAX_SAFE_INTEGER })
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return (item) => {
    scanner.check(item, 0, item.length)
    return decoder.decode(scanner.key.subarray(0, scanner.keyLength))
  }
}

/** The key of one item. Throws an ItemError if it has none. */
export function itemKey(bytes: Uint8Array, keyField: string): string {
  return keyReader(keyField)(bytes)
}

function keyError({ name }: WatchedMember, what: string): ItemError {
  return new ItemError('key', `the key field ${JSON.stringify(name)} ${what}`)
}

/** For a name such as `name.common`, which may be meant as a path. */
const NO_PATH = '; a key is a field at the top level of the item, never one inside another'
const KEY_RULE = 'a key is a string or an integer'

const KINDS: Readonly<Record<string, string>> = {
  '{': 'an object',
  '[': 'an array',
  '"': 'a string',
  t: 'true',
  f: 'false',
  n: 'null',
}

/** The kind of the JSON value that begins at `start`, with its article. */
export function kindOf(bytes: Uint8Array, start: number): string {
  return KINDS[String.fromCharCode(bytes[start] ?? 0)] ?? 'a number'
}

export function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end && isBlank(bytes[i] as number)) i++
  return i
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === LINE_FEED || byte === CARRIAGE_RETURN
}

function hasLineBreak(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === LINE_FEED || bytes[i] === CARRIAGE_RETURN) return true
  return false
}

/** Whether a number goes on with a fraction or an exponent. */
function isNumberPart(byte: number | undefined): boolean {
  return byte === 0x2e || byte === 0x65 || byte === 0x45
}

/** Whether a byte means something of its own in a key of several fields. */
function isSeparating(byte: number | undefined): boolean {
  return byte === COMMA || byte === BACKSLASH
}
