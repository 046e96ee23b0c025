/** Items and their keys (D9): checking texts given from code, and reading the key of an item. */

import { shorten } from './excerpt.ts'
import { ItemError } from './item-error.ts'
import { ItemPacker } from './item-packer.ts'
import type { ItemRun } from './item-run.ts'
import { type ItemOptions, ItemScanner } from './item-scanner.ts'

export { ItemError, type ItemErrorKind } from './item-error.ts'
export { ItemPacker } from './item-packer.ts'
export { type ItemOptions, ItemScanner, MAX_KEY_BYTES } from './item-scanner.ts'

/** Checks JSON texts and joins them to a run. Throws an ItemError that says which one is wrong, and why. */
export function itemRun(texts: Iterable<string>, options: ItemOptions = {}): ItemRun {
  const all = [...texts]
  const scanner = new ItemScanner(options)
  const packer = new ItemPacker(scanner)
  const encoder = new TextEncoder()
  for (const [index, text] of all.entries()) {
    try {
      if (!text.isWellFormed())
        throw new ItemError(
          'form',
          'it holds half of a surrogate pair, which UTF-8 cannot express; write it as an escape',
        )
      const bytes = encoder.encode(text)
      scanner.check(bytes, 0, bytes.length)
      packer.add(bytes, 0, bytes.length)
    } catch (error) {
      if (!(error instanceof ItemError)) throw error
      const message = `Item ${index + 1} of ${all.length}: ${error.reason}: \`${shorten(text)}\``
      throw new ItemError(error.kind, error.reason, error.offset, message)
    }
  }
  return packer.take()
}

/** The key of one item. Throws an ItemError if it has none. */
export function itemKey(bytes: Uint8Array, keyField: string): string {
  const scanner = new ItemScanner({ keyField, itemBytes: bytes.length })
  scanner.check(bytes, 0, bytes.length)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(scanner.key.subarray(0, scanner.keyLength))
}
