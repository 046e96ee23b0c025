/**
 * Steps through JSON in UTF-8 without decoding it: strict, and small, because browsers load it.
 * Import has `items/json-scan.ts`, which is faster and larger; decision 0001 says why there are two.
 */

// They stand here, above all, and nothing is imported: so bundlers write the numbers themselves, and engines know them.
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
const COLON = 0x3a
const CAPITAL_E = 0x45
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const LETTER_E = 0x65
const LETTER_F = 0x66
const LETTER_T = 0x74
const LETTER_U = 0x75
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** What can follow a backslash, \u aside: one of `"\\/bfnrt`. */
const ESCAPED = [QUOTE, BACKSLASH, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]

/** Arrays and objects within one another, at most: more would end at the stack's end. Reams itself takes items of 512. */
const MAX_DEPTH = 1024

/** Thrown where the text is not JSON, or breaks off. */
export class JsonFlaw extends Error {
  /** Whether more bytes could make it whole. */
  readonly isCutOff: boolean

  constructor(isCutOff: boolean) {
    super(isCutOff ? 'truncated' : 'not JSON')
    this.isCutOff = isCutOff
  }
}

/** That the bytes are UTF-8 is checked elsewhere, in bulk. A RangeError says that they are nested too deep. */
export class JsonCursor {
  at = 0
  readonly bytes: Uint8Array
  #depth = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Passes blanks, and gives the character behind them; undefined at the end. */
  peek(): number | undefined {
    const bytes = this.bytes
    let character = bytes[this.at] as number
    while (character <= 0x20) {
      if (character !== SPACE && character !== LINE_FEED && character !== CARRIAGE_RETURN && character !== TAB)
        this.#fail()
      character = bytes[++this.at] as number
    }
    return character
  }

  readValue(): void {
    const character = this.peek()
    if (character === QUOTE) this.#readString()
    else if (character === OPEN_OBJECT) this.readMembers()
    else if (character === OPEN_ARRAY) this.readElements()
    else if (character === MINUS || isDigit(character)) this.#readNumber()
    else this.#readWord(character === LETTER_T ? 'true' : character === LETTER_F ? 'false' : 'null')
  }

  /**
   * An object. `readMember` is called behind the colon of each member, with the place of its name, and has to read the
   * value; without it, values are passed.
   */
  readMembers(readMember?: (nameStart: number, nameEnd: number) => void): void {
    this.#open(OPEN_OBJECT)
    if (this.peek() !== CLOSE_OBJECT)
      for (;;) {
        const start = this.at
        this.#readString()
        const end = this.at
        if (this.peek() !== COLON) this.#fail()
        this.at++
        if (readMember === undefined) this.readValue()
        else readMember(start, end)
        if (this.#isAtEnd(CLOSE_OBJECT)) break
        this.peek()
      }
    this.#close()
  }

  /** An array. `readElement` is called before each element, and has to read it; without it, elements are passed. */
  readElements(readElement?: () => void): void {
    this.#open(OPEN_ARRAY)
    if (this.peek() !== CLOSE_ARRAY)
      do
        if (readElement === undefined) this.readValue()
        else readElement()
      while (!this.#isAtEnd(CLOSE_ARRAY))
    this.#close()
  }

  readEnd(): void {
    if (this.peek() !== undefined) this.#fail()
  }

  #open(opening: number): void {
    if (this.peek() !== opening) this.#fail()
    if (++this.#depth > MAX_DEPTH) throw new RangeError(`it is nested deeper than ${MAX_DEPTH}`)
    this.at++
  }

  /** Behind a value: whether the closing bracket comes, and no comma, which is passed. */
  #isAtEnd(closing: number): boolean {
    const character = this.peek()
    if (character === closing) return true
    if (character !== COMMA) this.#fail()
    this.at++
    return false
  }

  #close(): void {
    this.at++
    this.#depth--
  }

  #readString(): void {
    const bytes = this.bytes
    let at = this.at
    if (bytes[at++] !== QUOTE) this.#fail()
    for (;;) {
      const character = bytes[at++] as number
      if (character === QUOTE) break
      if (character === BACKSLASH) at = this.#escapeEnd(at)
      // Not a comparison with "less": at the end there is no character at all.
      else if (!(character >= SPACE)) this.#fail(at - 1)
    }
    this.at = at
  }

  #escapeEnd(at: number): number {
    const bytes = this.bytes
    if (ESCAPED.includes(bytes[at] as number)) return at + 1
    if (bytes[at] !== LETTER_U) this.#fail(at)
    for (let i = at + 1; i < at + 5; i++) if (!isHexDigit(bytes[i] as number)) this.#fail(i)
    return at + 5
  }

  #readNumber(): void {
    const bytes = this.bytes
    let at = this.at
    if (bytes[at] === MINUS) at++
    at = bytes[at] === DIGIT_0 ? at + 1 : this.#digitsEnd(at)
    if (bytes[at] === POINT) at = this.#digitsEnd(at + 1)
    const mark = bytes[at]
    if (mark === LETTER_E || mark === CAPITAL_E) {
      const sign = bytes[at + 1]
      at = this.#digitsEnd(sign === PLUS || sign === MINUS ? at + 2 : at + 1)
    }
    this.at = at
  }

  #digitsEnd(start: number): number {
    const bytes = this.bytes
    let at = start
    while (isDigit(bytes[at])) at++
    if (at === start) this.#fail(at)
    return at
  }

  #readWord(word: string): void {
    for (const letter of word) {
      if (this.bytes[this.at] !== letter.charCodeAt(0)) this.#fail()
      this.at++
    }
  }

  #fail(at = this.at): never {
    throw new JsonFlaw(at >= this.bytes.length)
  }
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

function isDigit(character: number | undefined): boolean {
  return (character as number) >= DIGIT_0 && (character as number) <= DIGIT_9
}
