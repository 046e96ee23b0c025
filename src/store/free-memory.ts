/** Gives memory back at once. The garbage collector sees a few small objects and would let their many bytes pile up. */

/** For bytes that nobody looks at again, and that have their memory to themselves. */
export function freeMemory({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
