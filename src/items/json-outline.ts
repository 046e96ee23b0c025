/** Finds the array that holds the items: the whole text, or an array in an object. Scans the rest byte by byte and keeps none of it. */

import { quoted } from '../contract/message-text.ts'
import { ItemError } from './item-scanner.ts'
import { characterAt, MAX_DEPTH, stringAt } from './json-scan.ts'
import { Action, Context, jsonTransitions, State } from './json-transitions.ts'

const SPACE = 0x20
const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b

/** Longer names are never part of a path. */
const MAX_NAME_BYTES = 1024

export class JsonOutline {
  /** The path of the array with the items, once it has been found; '' for the whole text. */
  found: string | undefined
  /** Whether it stands in that array, whose elements the caller reads. */
  isAtItems = false

  readonly #wanted: string | undefined
  readonly #transitions = jsonTransitions()
  #state: number = State.value
  #context: number = Context.top
  /** The contexts around this one, outermost first. */
  readonly #contexts: number[] = []
  /** The paths of those open objects whose members can be on the path. */
  readonly #paths: string[] = []
  #isInName = false
  #name: number[] = []
  /** Whether the next character shows if the items are here: at the beginning, and in the array `#candidate`. */
  #isLooking = true
  #candidate = ''

  /** `wanted`: the names that lead to the array, joined with dots. Default: the first at the top level that can hold items. */
  constructor(wanted?: string) {
    this.#wanted = wanted
  }

  /** Whether an array or object has been opened and not closed. */
  get isOpen(): boolean {
    return this.#contexts.length > 0
  }

  get isClosed(): boolean {
    return !this.isOpen && this.#state === State.afterValue
  }

  /** The reason why a closed object has no items. */
  get missing(): string {
    return this.#wanted === undefined
      ? 'the file is one object, and no member of it is an array of objects; if the array is deeper in it, name it, as in --items result.records; if the object is an item, put it in [ ]'
      : `the file is one object, and it has no array at ${quoted(this.#wanted)}; --items takes the names that lead to the array, joined with dots`
  }

  /** Goes on at `start`; returns where it stopped, which is `end` when more bytes are needed. Throws an ItemError. */
  pass(bytes: Uint8Array, start: number, end: number): number {
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number
      const flaw = this.#isLooking && byte > SPACE ? this.#look(byte) : undefined
      if (flaw !== undefined) throw new ItemError('form', flaw, i - start)
      if (this.isAtItems) return i
      const answer = this.#transitions[byte | this.#context | (this.#state << 8)] as number
      if (this.#isInName) {
        if (this.#name.length < MAX_NAME_BYTES) this.#name.push(byte)
        this.#isInName = answer !== State.colon
      }
      switch (answer) {
        case Action.openObject:
        case Action.openArray:
          if (this.#contexts.length === MAX_DEPTH)
            throw new ItemError('form', `nested deeper than ${MAX_DEPTH}`, i - start)
          this.#open(answer === Action.openArray)
          if (this.isAtItems) return i + 1
          break
        case Action.close:
          this.#close()
          if (this.isClosed) return i + 1
          break
        case Action.nameBegins:
          this.#isInName = true
          this.#name = [QUOTE]
          this.#state = State.inName
          break
        case Action.nameEscape:
          this.#state = State.nameEscape
          break
        case Action.lineBreak:
          this.#state = this.#transitions[SPACE | this.#context | (this.#state << 8)] as number
          break
        case Action.refuse:
          throw new ItemError('form', `unexpected character \`${characterAt(bytes, i)}\``, i - start)
        default:
          this.#state = answer
      }
    }
    return end
  }

  /** Call this after the closing ] of the array with the items. */
  leaveItems(): void {
    this.isAtItems = false
    this.#close()
  }

  #open(isArray: boolean): void {
    const path = this.#context === Context.watchedObject ? this.#pathOfMember() : undefined
    const isOnPath = !this.isOpen || (path !== undefined && this.#wanted?.startsWith(`${path}.`))
    if (isArray && !this.isOpen) this.#enterItems('')
    this.#contexts.push(this.#context)
    this.#state = isArray ? State.firstValue : State.firstName
    if (isArray) {
      this.#context = Context.array
      this.#isLooking = path !== undefined && path === (this.#wanted ?? path)
      this.#candidate = path ?? ''
    } else if (isOnPath) {
      this.#context = Context.watchedObject
      this.#paths.push(path ?? '')
    } else this.#context = Context.object
  }

  #close(): void {
    if (this.#context === Context.watchedObject) this.#paths.pop()
    this.#context = this.#contexts.pop() ?? Context.top
    this.#state = State.afterValue
  }

  #pathOfMember(): string {
    const name = stringAt(Uint8Array.from(this.#name), 0, this.#name.length) ?? '…'
    const path = this.#paths.at(-1) ?? ''
    return path === '' ? name : `${path}.${name}`
  }

  #enterItems(path: string): void {
    this.found = path
    this.isAtItems = true
  }

  /**
   * Looks at the first character of the text, or of an array that may be the one; returns what is wrong with it. Without
   * a path an empty array is taken too: it may have items tomorrow, and another must not take its place today.
   */
  #look(first: number): string | undefined {
    this.#isLooking = false
    if (!this.isOpen) return flawAtStart(first, this.#wanted)
    const isWanted = this.#wanted !== undefined || first === OPEN_OBJECT
    if (!isWanted && (first !== CLOSE_ARRAY || this.found !== undefined)) return undefined
    if (this.found !== undefined) return ambiguous(this.found, this.#candidate)
    this.#enterItems(this.#candidate)
    return undefined
  }
}

function flawAtStart(first: number, wanted: string | undefined): string | undefined {
  if (first === OPEN_OBJECT || (first === OPEN_ARRAY && wanted === undefined)) return undefined
  if (wanted === undefined) return 'the file must be a JSON array of objects, or an object with one in it'
  return `the file is not an object with ${quoted(wanted)} in it; leave out --items`
}

function ambiguous(first: string, second: string): string {
  if (first === second) return `the object has two arrays at ${quoted(first)}; remove one of them`
  const [a, b] = [first, second].map((path) => `--items ${/^[\w.-]+$/.test(path) ? path : quoted(path)}`)
  return `the items can be in ${quoted(first)} or in ${quoted(second)}; say where, with ${a} or ${b}`
}

/** The name of the first array of objects in an item. */
export function arrayIn(item: Uint8Array): string | undefined {
  const outline = new JsonOutline()
  const at = outline.pass(item, 0, item.length)
  return item[at] === OPEN_OBJECT ? outline.found : undefined
}
