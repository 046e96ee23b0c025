/** Many connections that keep a server busy with nothing, seen from the bench. What each kind does is in `crowd-load.ts`. */

import { nodeProgram } from './child-process.ts'
import { type RunningLoad, startLoadProgram } from './running-load.ts'

export type Kind =
  /** Opens a connection and says nothing. */
  | 'silent'
  /** Has been answered once, and asks for nothing more. */
  | 'answered'
  /** Asks for a large page and reads a few bytes of it every second. */
  | 'slow reader'
  /** Asks for a large page and reads only its first bytes. */
  | 'stopped reader'
  /** Announces a body and sends a byte of it every second. */
  | 'slow writer'
  /** Sends half the head of a request, and of a header a byte every second. */
  | 'half a head'
  /** Sends the shortest requests as fast as the socket takes them, and reads only the first bytes of all answers. */
  | 'flood of reads'
  /** Sends writes without a token as fast as the socket takes them, and reads the answers. */
  | 'flood of writes'

export interface CrowdPlan {
  /** The URL of a collection: readers ask for its page, writers append to it. */
  readonly url: string
  /** Of the slow writers. */
  readonly token?: string
  readonly connections: Readonly<Partial<Record<Kind, number>>>
}

export interface CrowdResult {
  /** How many were open at the end: the server may close them, and then they come again. */
  readonly open: number
  readonly closedByServer: number
  /** What the crowd itself took of the machine's cores, 1 being all of one. */
  readonly cores: number
}

const CROWD_LOAD = nodeProgram('./crowd-load.ts')

/** It has begun when all are there, and readers have the beginning of their answers. */
export function startCrowd(plan: CrowdPlan, signal: AbortSignal): RunningLoad<CrowdResult> {
  return startLoadProgram(CROWD_LOAD, plan, signal)
}
