/** What the escapes in a JSON string stand for, as UTF-8, byte by byte. */

const BACKSLASH = 0x5c

/** What the character after a backslash stands for; all others, `u` aside, stand for themselves. */
const CONTROLS: Readonly<Record<string, number>> = { b: 0x08, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09 }

/**
 * Writes the value of a valid JSON string, `bytes` from `start` to `end` without its quotes, to `target`,
 * and returns its length; -1 if a lone surrogate stands in it, for which UTF-8 has no bytes.
 * It never takes more room than the string itself.
 */
export function unescapeString(bytes: Uint8Array, start: number, end: number, target: Uint8Array): number {
  let to = 0
  let i = start
  while (i < end) {
    const byte = bytes[i] as number
    if (byte !== BACKSLASH) {
      target[to++] = byte
      i++
      continue
    }
    const kind = String.fromCharCode(bytes[i + 1] as number)
    if (kind !== 'u') {
      target[to++] = CONTROLS[kind] ?? kind.charCodeAt(0)
      i += 2
      continue
    }
    let character = fourHexDigits(bytes, i + 2)
    i += 6
    if (character >= 0xd800 && character <= 0xdfff) {
      const isPair = character < 0xdc00 && i + 6 <= end && bytes[i] === BACKSLASH && bytes[i + 1] === 0x75
      const low = isPair ? fourHexDigits(bytes, i + 2) : 0
      if (low < 0xdc00 || low > 0xdfff) return -1
      character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00)
      i += 6
    }
    to = writeCharacter(character, target, to)
  }
  return to
}

function writeCharacter(character: number, target: Uint8Array, at: number): number {
  let to = at
  if (character < 0x80) {
    target[to++] = character
    return to
  }
  if (character < 0x800) {
    target[to++] = 0xc0 | (character >> 6)
  } else {
    if (character < 0x10000) {
      target[to++] = 0xe0 | (character >> 12)
    } else {
      target[to++] = 0xf0 | (character >> 18)
      target[to++] = 0x80 | ((character >> 12) & 0x3f)
    }
    target[to++] = 0x80 | ((character >> 6) & 0x3f)
  }
  target[to++] = 0x80 | (character & 0x3f)
  return to
}

function fourHexDigits(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let i = at; i < at + 4; i++) {
    const digit = bytes[i] as number
    value = value * 16 + (digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57)
  }
  return value
}
