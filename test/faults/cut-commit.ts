/** Cuts a connection to PostgreSQL at a commit. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { TcpProxy } from '../store/tcp-proxy.ts'

/** The message that asks for a commit: its kind, its length, its text. */
const COMMIT = Buffer.from('Q\0\0\0\x0bCOMMIT\0')

const MAX_MS_UNTIL_CUT = 20_000

/** On one of the proxies, after so many others have passed. Resolves with true when it is done. */
export async function cutOnce(
  proxies: readonly TcpProxy[],
  moment: 'before' | 'after',
  passing: number,
): Promise<boolean> {
  let left = passing
  let isCut = false
  for (const proxy of proxies)
    proxy.judge = (data) => {
      const at = data.indexOf(COMMIT)
      if (isCut || at < 0 || left-- > 0) return 'pass'
      isCut = true
      return moment === 'before' ? at : at + COMMIT.length
    }
  for (const startedAt = performance.now(); !isCut && performance.now() - startedAt < MAX_MS_UNTIL_CUT; ) await sleep(1)
  for (const proxy of proxies) proxy.judge = () => 'pass'
  return isCut
}
