/** Texts and figures made fit for a message: short, with control characters made visible, and without secrets. Pure. */

const EXCERPT_LENGTH = 100
const QUOTED_CHARACTERS = 100

/** Bytes shown before the place that matters, when that place is far from the beginning. */
const LEAD_BYTES = 40

/** UTF-8 has at most four bytes a character. */
const EXCERPT_BYTES = 4 * (EXCERPT_LENGTH + 1)

/** The text between `start` and `end`, or what stands around `at`, the place that matters. */
export function excerpt(bytes: Uint8Array, start: number, end: number, at: number = start): string {
  const from = at - start < 2 * LEAD_BYTES ? start : characterStart(bytes, at - LEAD_BYTES)
  const to = Math.min(end, from + EXCERPT_BYTES)
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to))
  return (from > start ? '…' : '') + shorten(text)
}

/** The same for a text that is a string already. */
export function shorten(text: string): string {
  const characters = [...text.slice(0, 2 * EXCERPT_LENGTH + 2)]
  const isShort = characters.length <= EXCERPT_LENGTH
  return makeVisible(characters.slice(0, EXCERPT_LENGTH).join('')) + (isShort ? '' : '…')
}

/** A value that somebody sent, quoted and shortened, for a message. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > QUOTED_CHARACTERS ? `${value.slice(0, QUOTED_CHARACTERS)}…` : value)
}

function characterStart(bytes: Uint8Array, at: number): number {
  let i = at
  while (((bytes[i] ?? 0) & 0xc0) === 0x80) i++
  return i
}

/** Writes out what a terminal would act upon or not show: control, format and separator characters, lone surrogates. */
export function makeVisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return (
      NAMED_CONTROLS[character] ?? `\\u${code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, '0')}`
    )
  })
}

const NAMED_CONTROLS: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** `1,234`. Not by Intl, which takes longer to begin with than all the rest of a start. */
export function formatCount(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 item`, `1,234 items`. */
export function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** So many characters at its beginning are enough to know it again. */
const BEGINNING = 8

/** Hides what begins as the secret does, as far as it is the secret. */
export function hideSecret(text: string, secret: string | undefined): string {
  if (secret === undefined) return text
  const [before = '', ...pieces] = text.split(secret.slice(0, BEGINNING))
  const rest = secret.slice(BEGINNING)
  return [before, ...pieces.map((piece) => piece.slice(sharedLength(piece, rest)))].join('…')
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
