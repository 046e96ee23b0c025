/** Waits for something that is going to be so: ends with an error if it is not, after a time that only a fault takes. */

import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 20

export async function waitUntil(isSo: () => boolean | Promise<boolean>, mostMs = 60_000): Promise<void> {
  const givesUpAt = performance.now() + mostMs
  while (!(await isSo())) {
    if (performance.now() > givesUpAt) throw new Error(`After ${mostMs} ms it is still not so: ${isSo}`)
    await sleep(PAUSE_MS)
  }
}
