/** Finds the array that holds the items in a JSON object. Passes the rest byte by byte and keeps nothing of it, whatever its size. */

import { quoted } from '../contract/message-text.ts'
import { ItemError } from './item-scanner.ts'
import { characterAt, MAX_DEPTH, stringAt } from './json-scan.ts'
import { Action, Context, jsonTransitions, State } from './json-transitions.ts'

const SPACE = 0x20
const QUOTE = 0x22
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b

/** A name with more bytes is on no path. */
const MAX_NAME_BYTES = 1024

export class JsonOutline {
  /** The path of the array with the items, once it has been found. */
  found: string | undefined
  /** Whether it stands before the first element of that array, which the caller reads. */
  isAtItems = false
  /** Whether it stands after the whole object. */
  isClosed = false

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
  /** The path of an array that has just been opened, if it can be the one. */
  #candidate: string | undefined

  /** `wanted`: the names that lead to the array, joined with dots. Default: the first at the top level that can hold items. */
  constructor(wanted?: string) {
    this.#wanted = wanted
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
      if (this.#candidate !== undefined && byte > SPACE && this.#isChosen(this.#candidate, byte, i - start)) return i
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

  /** To be called after the closing ] of the array with the items. */
  leaveItems(): void {
    this.isAtItems = false
    this.#close()
  }

  #open(isArray: boolean): void {
    const path = this.#context === Context.watchedObject ? this.#pathOfMember() : undefined
    const isOnPath = this.#contexts.length === 0 || (path !== undefined && this.#wanted?.startsWith(`${path}.`))
    this.#contexts.push(this.#context)
    this.#state = isArray ? State.firstValue : State.firstName
    if (isArray) {
      this.#context = Context.array
      this.#candidate = this.#wanted === undefined || path === this.#wanted ? path : undefined
    } else if (isOnPath) {
      this.#context = Context.watchedObject
      this.#paths.push(path ?? '')
    } else this.#context = Context.object
  }

  #close(): void {
    if (this.#context === Context.watchedObject) this.#paths.pop()
    this.#context = this.#contexts.pop() ?? Context.top
    this.#state = State.afterValue
    this.isClosed = this.#contexts.length === 0
  }

  #pathOfMember(): string {
    const name = stringAt(Uint8Array.from(this.#name), 0, this.#name.length) ?? '…'
    const path = this.#paths.at(-1) ?? ''
    return path === '' ? name : `${path}.${name}`
  }

  /**
   * Whether the array at `path`, whose first character is `first`, is the one. Without a path an empty one is taken too:
   * it may have items tomorrow, and another array must not take its place today.
   */
  #isChosen(path: string, first: number, offset: number): boolean {
    this.#candidate = undefined
    const hasObjects = first === OPEN_OBJECT
    const canBe = this.#wanted !== undefined || hasObjects || (first === CLOSE_ARRAY && this.found === undefined)
    if (!canBe) return false
    if (this.found !== undefined) throw new ItemError('form', ambiguous(this.found, path), offset)
    this.found = path
    this.isAtItems = true
    return true
  }
}

function ambiguous(first: string, second: string): string {
  if (first === second) return `the object has two arrays at ${quoted(first)}; remove one of them`
  return `the items can be in ${quoted(first)} or in ${quoted(second)}; say where, with ${itemsFlag(first)} or ${itemsFlag(second)}`
}

/** As it is written in a shell. */
export function itemsFlag(path: string): string {
  return `--items ${/^[\w.-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}`
}

/** The name of the first array of objects in an item. */
export function arrayIn(item: Uint8Array): string | undefined {
  const outline = new JsonOutline()
  const at = outline.pass(item, 0, item.length)
  return item[at] === OPEN_OBJECT ? outline.found : undefined
}
