/** A strict scanner of JSON in UTF-8: finds where a value ends, or where and why it is none, without decoding it. */

import { makeVisible } from '../contract/message-text.ts'
import { Action, Context, isInEscape, isInQuotes, isWhole, jsonTransitions, State } from './json-transitions.ts'

/** Arrays and objects within one another, at most. */
export const MAX_DEPTH = 512

/** The same in a change, which has an item in it. */
export const MAX_CHANGE_DEPTH = MAX_DEPTH + 1

/**
 * Why a text is not JSON: it breaks off (more bytes could make it whole), a character stands where it may not,
 * a control character or an unknown escape stands in a string, or it is nested too deep.
 */
type JsonFault = 'end' | 'character' | 'control' | 'escape' | 'depth'

const SPACE = 0x20
const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

const decoder = new TextDecoder()

/** The longest way to write one byte of a name is `\u0000`. */
const LONGEST_ESCAPE = 6

// Names for the hot loop in this file's own scope: there, and not across an import, they cost as little as numbers.
const FIRST_ACTION = Action.refuse
const DONE = Action.done
const LINE_BREAK = Action.lineBreak
const OPEN_OBJECT = Action.openObject
const OPEN_ARRAY = Action.openArray
const CLOSE = Action.close
const NAME_BEGINS = Action.nameBegins
const NAME_ESCAPE = Action.nameEscape
const VALUE = State.value
const FIRST_VALUE = State.firstValue
const AFTER_VALUE = State.afterValue
const FIRST_NAME = State.firstName
const IN_NAME = State.inName
const IN_NAME_ESCAPE = State.nameEscape
const TOP = Context.top
const ARRAY = Context.array
const OBJECT = Context.object
const WATCHED_OBJECT = Context.watchedObject

/** A member of an object that a scanner looks for; its fields tell about the object scanned last. */
export class WatchedMember {
  readonly name: string
  /** How often the object has it, and where its value begins; of several, the last. */
  count = 0
  start = 0
  /** The name in UTF-8, unless it cannot be written without an escape. */
  readonly #plainName: Uint8Array | undefined
  /** Bytes that the name has at most, however it is written. */
  readonly #maxNameLength: number

  constructor(name: string) {
    this.name = name
    const bytes = new TextEncoder().encode(name)
    this.#plainName = bytes.some(needsEscape) ? undefined : bytes
    this.#maxNameLength = LONGEST_ESCAPE * bytes.length
  }

  /** Takes note if the name that begins at `start` is, as it is written, that of the member. */
  note(bytes: Uint8Array, start: number, end: number): void {
    const name = this.#plainName
    if (name === undefined) return
    const quote = start + name.length
    if (quote >= end || bytes[quote] !== QUOTE) return
    for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return
    this.#noteValue(bytes, quote + 1, end)
  }

  /** The same for a name with escapes in it. */
  noteEscaped(bytes: Uint8Array, start: number, end: number): void {
    let quote = start
    while (quote < end && bytes[quote] !== QUOTE) quote += bytes[quote] === BACKSLASH ? 2 : 1
    if (quote >= end || quote - start > this.#maxNameLength) return
    if (stringAt(bytes, start - 1, quote + 1) === this.name) this.#noteValue(bytes, quote + 1, end)
  }

  #noteValue(bytes: Uint8Array, start: number, end: number): void {
    let i = start
    while (i < end && ((bytes[i] as number) <= SPACE || bytes[i] === COLON)) i++
    this.count++
    this.start = i
  }
}

/**
 * Takes exactly what JSON.parse takes, up to `maxDepth`. That the bytes are valid UTF-8 is checked elsewhere, in bulk.
 * One scanner serves any number of values, one after the other, and allocates nothing while they are right:
 * its fields tell about the value scanned last.
 */
export class JsonScanner {
  /** Arrays and objects within one another: no more than MAX_CHANGE_DEPTH. */
  maxDepth: number = MAX_DEPTH
  /** Whether a line break stood between two tokens. */
  hasLineBreak = false
  /** What is wrong, and where, when `scan` gave -1; else they mean nothing. */
  fault: JsonFault = 'end'
  faultAt = 0
  /** When the text breaks off: the character that would close what is open; '' when nothing is. */
  missing = ''

  readonly #transitions = jsonTransitions()
  readonly #contexts = new Uint16Array(MAX_CHANGE_DEPTH)
  readonly #members: readonly WatchedMember[]

  /** `members` are those to look for in an object at the top level. */
  constructor(...members: readonly WatchedMember[]) {
    this.#members = members
  }

  /** The offset after the JSON value that begins at `start`, blanks before it allowed; -1 if there is none before `end`. */
  scan(bytes: Uint8Array, start: number, end: number): number {
    const transitions = this.#transitions
    const contexts = this.#contexts
    const members = this.#members
    const memberCount = members.length
    // Most often there is no other one.
    const first = members[0]
    this.hasLineBreak = false
    for (let m = 0; m < memberCount; m++) (members[m] as WatchedMember).count = 0
    let context: number = TOP
    let state: number = VALUE
    let depth = 0
    let nameStart = -1
    let i = start

    for (;;) {
      // The hot loop. Each answer waits for the one before it, so nothing else may stand between the two: it does not
      // look at `end`, but runs on to the next action, and a missing byte counts as NUL, which is one in every state.
      let answer = transitions[(bytes[i] as number) | context | (state << 8)] as number
      while (answer < FIRST_ACTION) {
        state = answer
        i++
        answer = transitions[(bytes[i] as number) | context | (answer << 8)] as number
      }
      if (i > end) return this.#scanAlone(bytes, start, end)
      if (i === end) break

      switch (answer) {
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          if (depth === this.maxDepth) return this.#fail('depth', i)
          contexts[depth] = context
          if (answer === OPEN_ARRAY) context = ARRAY
          else context = depth === 0 && memberCount > 0 ? WATCHED_OBJECT : OBJECT
          state = answer === OPEN_ARRAY ? FIRST_VALUE : FIRST_NAME
          depth++
          break
        case CLOSE:
          depth--
          if (depth === 0) return i + 1
          context = contexts[depth] as number
          state = AFTER_VALUE
          break
        case NAME_BEGINS:
          nameStart = i + 1
          first?.note(bytes, nameStart, end)
          for (let m = 1; m < memberCount; m++) (members[m] as WatchedMember).note(bytes, nameStart, end)
          state = IN_NAME
          break
        case NAME_ESCAPE:
          // At the first escape the whole name is looked at; further ones in the same name change nothing.
          if (nameStart >= 0) for (const member of members) member.noteEscaped(bytes, nameStart, end)
          nameStart = -1
          state = IN_NAME_ESCAPE
          break
        case LINE_BREAK:
          this.hasLineBreak = true
          state = transitions[SPACE | context | (state << 8)] as number
          break
        case DONE:
          return i
        default:
          if (isInEscape(state)) return this.#fail('escape', i)
          return this.#fail(isInQuotes(state) ? 'control' : 'character', i)
      }
      i++
    }
    if (depth === 0 && isWhole(state)) return i
    if (isInQuotes(state)) this.missing = '"'
    else if (depth === 0) this.missing = ''
    else this.missing = context === ARRAY ? ']' : '}'
    return this.#fail('end', i)
  }

  /** The same result for a text that ends in the midst of other bytes, which have nothing to say about it. */
  #scanAlone(bytes: Uint8Array, start: number, end: number): number {
    const after = this.scan(bytes.subarray(start, end), 0, end - start)
    for (const member of this.#members) member.start += start
    this.faultAt += start
    return after < 0 ? -1 : after + start
  }

  #fail(fault: JsonFault, at: number): -1 {
    this.fault = fault
    this.faultAt = at
    return -1
  }
}

/** What the JSON string between two offsets says, its quotes included; undefined if it is none. */
export function stringAt(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return JSON.parse(decoder.decode(bytes.subarray(start, end)))
  } catch {
    return undefined
  }
}

function needsEscape(byte: number): boolean {
  return byte === QUOTE || byte === BACKSLASH || byte < SPACE
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The reason why `scanner` refused the text that begins at `start`. Columns count characters, from 1, in their line. */
export function describeFault(scanner: JsonScanner, bytes: Uint8Array, start: number): string {
  const { fault, faultAt, missing } = scanner
  const column = columnOf(bytes, start, faultAt)
  switch (fault) {
    case 'end':
      return missing === '' ? 'it is truncated' : `it is truncated: a closing ${missing} is missing`
    case 'character':
      return `unexpected character \`${characterAt(bytes, faultAt)}\` at column ${column}`
    case 'control':
      if (bytes[faultAt] === LINE_FEED || bytes[faultAt] === CARRIAGE_RETURN)
        return `there is a line break in a string at column ${column}: is its closing " missing?`
      return `the control character \`${characterAt(bytes, faultAt)}\` at column ${column} must be written as an escape`
    case 'escape':
      return `unknown escape in a string at column ${column}`
    case 'depth':
      return `nested deeper than ${MAX_DEPTH} at column ${column}`
  }
}

function columnOf(bytes: Uint8Array, start: number, at: number): number {
  const lineStart = Math.max(start, bytes.subarray(0, at).lastIndexOf(LINE_FEED) + 1)
  let column = 1
  for (let i = lineStart; i < at; i++) if (((bytes[i] ?? 0) & 0xc0) !== 0x80) column++
  return column
}

export function characterAt(bytes: Uint8Array, at: number): string {
  const [character = ''] = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(at, at + 4))
  return makeVisible(character)
}
