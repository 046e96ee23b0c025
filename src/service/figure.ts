/** Numbers in messages. */

/** 67108864 as 67,108,864. */
export function figure(count: number): string {
  return count.toLocaleString('en-US')
}
