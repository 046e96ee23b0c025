/** How rates of pages are measured: short rounds in turn, so that a busy machine hits both sides. */

import type { LoadSize } from '../running-load.ts'
import type { Workspace } from '../workspace.ts'

export const IN_FLIGHT = 8

/** More than a long comparison has. */
export function roundsOf({ rounds }: Workspace): number {
  return 2 * rounds - 1
}

/**
 * The first round is so long that the compiler of the server is done. The process that asks is a new one in each round,
 * and is to be warm as well.
 */
export function sizeOf({ requests }: Workspace, round: number): LoadSize {
  const warmUp = round === 0 ? 8 * requests : requests
  return { connections: IN_FLIGHT, warmUp, requests: 2 * requests }
}
