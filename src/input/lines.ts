/** Counting lines and finding their ends. */

export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d

/** How many line feeds stand between two offsets. */
export function countLineFeeds(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let i = start; i < end; i++) if (bytes[i] === LINE_FEED) count++
  return count
}

/** The offset after the last line feed before `at`, but not before `start`. */
export function lineStart(bytes: Uint8Array, start: number, at: number): number {
  return Math.max(start, bytes.subarray(start, at).lastIndexOf(LINE_FEED) + 1 + start)
}

/** The offset of the first line feed from `at` on; `end` if there is none before. */
export function lineEnd(bytes: Uint8Array, at: number, end: number): number {
  const offset = bytes.subarray(at, end).indexOf(LINE_FEED)
  return offset < 0 ? end : at + offset
}
