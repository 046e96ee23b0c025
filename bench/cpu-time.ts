/** The time that processes have had a processor, as /proc tells it. */

import { readFileSync } from 'node:fs'

/** What Linux counts in, on every machine of today. */
const MS_A_TICK = 10

/** Of all of these together; one that has ended counts for nothing. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * MS_A_TICK
}

function ticksOf(pid: number): number {
  try {
    // Behind the name of the program, which may hold anything: user and system time are the 12th and 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return 0
  }
}
