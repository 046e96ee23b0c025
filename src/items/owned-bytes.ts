/** Bytes that belong to somebody, who frees their memory when nobody needs them any more. */

declare const OWNED: unique symbol

/** Nobody but their owner looks at these bytes. They are plain Uint8Arrays: the type alone tells. */
export type OwnedBytes<Bytes extends Uint8Array = Uint8Array> = Bytes & { readonly [OWNED]: true }

/** For whoever has made these bytes, or was given them for good. */
export function own<Bytes extends Uint8Array>(bytes: Bytes): OwnedBytes<Bytes> {
  // The brand exists for the compiler only.
  return bytes as OwnedBytes<Bytes>
}

/**
 * Gives memory back at once, to be called once nobody looks at the bytes any more: the garbage collector sees a few small objects, and would let
 * their many bytes pile up. Bytes that take half of their memory or less may share it with others. They are left alone.
 */
export function free({ buffer, byteLength }: OwnedBytes): void {
  const isAlone = byteLength > 0 && byteLength * 2 > buffer.byteLength
  if (isAlone && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Each chunk is freed before the next one. */
export async function* oneByOne(chunks: AsyncIterable<OwnedBytes>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk
    free(chunk)
  }
}
