/** Damages bytes: flips, inserts, removes and repeats some of them. */

import { type Dice, words } from '../dice.ts'

/** Bytes on which parsers decide something. */
const TELLING = [...words(`: , ; 0 - / ? % " { }`), '\r', '\n', '\r\n', '\r\n\r\n', ' ', '\t', '\0', '\xff']

export function mutate(dice: Dice, bytes: Buffer): Buffer {
  let mutant = bytes
  for (let round = dice.between(1, 6); round > 0; round--) mutant = mutateOnce(dice, mutant)
  return mutant
}

function mutateOnce(dice: Dice, bytes: Buffer): Buffer {
  const at = dice.below(bytes.length + 1)
  const end = Math.min(bytes.length, at + (dice.chance(70) ? dice.between(1, 4) : dice.between(1, 200)))
  const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)]
  switch (dice.below(6)) {
    case 0: {
      const flipped = Buffer.from(piece)
      for (let index = 0; index < Math.min(4, flipped.length); index++)
        flipped[index] = (flipped[index] ?? 0) ^ (1 << dice.below(8))
      return Buffer.concat([before, flipped, after])
    }
    case 1:
      return Buffer.concat([before, Buffer.from(dice.of(TELLING), 'latin1'), piece, after])
    case 2:
      return Buffer.concat([before, Buffer.from(dice.of(TELLING), 'latin1'), after])
    case 3:
      return Buffer.concat([before, after])
    case 4:
      return Buffer.concat([before, piece, piece, after])
    default:
      return Buffer.concat([before, dice.bytes(dice.between(1, 8)), piece, after])
  }
}
