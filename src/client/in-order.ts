/** Pages in order, read ahead. */

import { onAbort } from './deadline.ts'

/**
 * Reads `first` to `last` and gives them in that order. While one is being used, the next `ahead` are read or wait to be
 * taken, and no more: who is slow is waited for. What is still being read at the end is told to end.
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
      // It is heard when its turn comes; until then it is nobody's failure.
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
