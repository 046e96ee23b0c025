/** Reads pages ahead, and yields them in order. */

import { onAbort } from './deadline.ts'

/**
 * Reads `first` to `last` and yields them in that order. While one is used, the next `ahead` are being read or are
 * ready, and no more than that. At the end, what is still being read is aborted.
 */
export async function* inOrder<T>(
  first: number,
  last: number,
  ahead: number,
  read: (number: number, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  const controller = new AbortController()
  const unlink = onAbort(signal, (reason) => controller.abort(reason))
  const pending: Promise<T>[] = []
  let next = first
  const fill = () => {
    for (; next <= last && pending.length < ahead; next++) {
      const page = read(next, controller.signal)
      // An error is thrown when its turn comes; until then it must not count as unhandled.
      page.catch(() => {})
      pending.push(page)
    }
  }
  try {
    fill()
    for (let page = pending.shift(); page !== undefined; page = pending.shift()) {
      const value = await page
      fill()
      yield value
    }
  } finally {
    unlink()
    controller.abort()
  }
}
