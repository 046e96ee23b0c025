/** The grammar of JSON (RFC 8259) as one table: what a byte means in a state. Only brackets need more than a table. */

/** What the bytes before have left the scanner to expect. */
export const State = {
  value: 0,
  firstValue: 1,
  afterValue: 2,
  name: 3,
  firstName: 4,
  colon: 5,
  inName: 6,
  nameEscape: 7,
  nameHex4: 8,
  nameHex3: 9,
  nameHex2: 10,
  nameHex1: 11,
  inString: 12,
  escape: 13,
  hex4: 14,
  hex3: 15,
  hex2: 16,
  hex1: 17,
  minus: 18,
  zero: 19,
  integer: 20,
  point: 21,
  fraction: 22,
  exponentMark: 23,
  exponentSign: 24,
  exponent: 25,
  t: 26,
  tr: 27,
  f: 28,
  fa: 29,
  fal: 30,
  truOrFals: 31,
  n: 32,
  nu: 33,
  nul: 34,
} as const

/** What the table answers, instead of the next state, where the scanner itself has something to do. All are above the states. */
export const Action = {
  refuse: 64,
  done: 65,
  lineBreak: 66,
  openObject: 67,
  openArray: 68,
  close: 69,
  nameBegins: 70,
  nameEscape: 71,
} as const

/** What surrounds the value at hand. A watched object is one whose names the scanner wants to see. */
export const Context = {
  top: 0,
  array: 1 << 14,
  object: 2 << 14,
  watchedObject: 3 << 14,
} as const

/** A number has no closing character, so it ends where something else begins. */
const NUMBER_ENDS: readonly number[] = [State.zero, State.integer, State.fraction, State.exponent]

/** Whether a value at the top level is whole when its text ends in this state. */
export function isWhole(state: number): boolean {
  return state === State.afterValue || NUMBER_ENDS.includes(state)
}

export function isInQuotes(state: number): boolean {
  return state >= State.inName && state <= State.hex1
}

export function isInEscape(state: number): boolean {
  return isInQuotes(state) && state !== State.inName && state !== State.inString
}

/** Made when first needed, the same ever after. */
let transitions: Uint8Array | undefined

/** The answer for a context, a state and a byte stands at `context + state * 256 + byte`. */
export function jsonTransitions(): Uint8Array {
  transitions ??= makeTransitions()
  return transitions
}

function makeTransitions(): Uint8Array {
  const table = new Uint8Array(4 << 14).fill(Action.refuse)
  for (const context of Object.values(Context)) {
    const on = (states: number | readonly number[], characters: string, answer: number): void => {
      for (const state of [states].flat())
        for (const character of characters) table[context + state * 256 + character.charCodeAt(0)] = answer
    }
    const anyOf = (state: number, from: number, answer: number): void => {
      table.fill(answer, context + state * 256 + from, context + (state + 1) * 256)
    }
    const isObject = context === Context.object || context === Context.watchedObject
    const isWatched = context === Context.watchedObject

    const values = [State.value, State.firstValue]
    on(values, '"', State.inString)
    on(values, '{', Action.openObject)
    on(values, '[', Action.openArray)
    on(State.firstValue, ']', Action.close)

    const names = [State.name, State.firstName]
    on(names, '"', isWatched ? Action.nameBegins : State.inName)
    on(State.firstName, '}', Action.close)
    on(State.colon, ':', State.value)

    const blanks = [...values, ...names, State.colon]
    for (const state of blanks) on(state, ' \t', state)
    on(blanks, '\n\r', Action.lineBreak)

    const ends = [State.afterValue, ...NUMBER_ENDS]
    if (context === Context.top) {
      for (const state of ends) anyOf(state, 0, Action.done)
    } else {
      on(ends, ' \t', State.afterValue)
      on(ends, '\n\r', Action.lineBreak)
      on(ends, ',', isObject ? State.name : State.value)
      on(ends, isObject ? '}' : ']', Action.close)
    }

    for (const [within, backslash, hex, end] of [
      [State.inName, State.nameEscape, State.nameHex4, State.colon],
      [State.inString, State.escape, State.hex4, State.afterValue],
    ] as const) {
      anyOf(within, 0x20, within)
      on(within, '\\', backslash)
      on(within, '"', end)
      on(backslash, '"\\/bfnrt', within)
      on(backslash, 'u', hex)
      for (const digit of [0, 1, 2, 3]) on(hex + digit, HEX_DIGITS, digit < 3 ? hex + digit + 1 : within)
    }

    if (isWatched) on(State.inName, '\\', Action.nameEscape)

    on([...values, State.minus], '0', State.zero)
    on([...values, State.minus], '123456789', State.integer)
    on(values, '-', State.minus)
    on(State.integer, DIGITS, State.integer)
    on([State.zero, State.integer], '.', State.point)
    on([State.point, State.fraction], DIGITS, State.fraction)
    on([State.zero, State.integer, State.fraction], 'eE', State.exponentMark)
    on(State.exponentMark, '+-', State.exponentSign)
    on([State.exponentMark, State.exponentSign, State.exponent], DIGITS, State.exponent)

    on(values, 't', State.t)
    on(State.t, 'r', State.tr)
    on(State.tr, 'u', State.truOrFals)
    on(values, 'f', State.f)
    on(State.f, 'a', State.fa)
    on(State.fa, 'l', State.fal)
    on(State.fal, 's', State.truOrFals)
    on(State.truOrFals, 'e', State.afterValue)
    on(values, 'n', State.n)
    on(State.n, 'u', State.nu)
    on(State.nu, 'l', State.nul)
    on(State.nul, 'l', State.afterValue)
  }
  return table
}

const DIGITS = '0123456789'
const HEX_DIGITS = '0123456789abcdefABCDEF'
