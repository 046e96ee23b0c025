/** Whether a process may have as many connections as a question needs. */

import { readFileSync } from 'node:fs'
import { formatCount } from '../src/contract/message-text.ts'

/** Files of a server or a client that are none of these connections. */
const OTHER_FILES = 200

/** Why not; undefined if it may. Node raises its soft limit to the hard one, which is the same for all that the bench starts. */
export function lackOfOpenFiles(connections: number): string | undefined {
  const needed = connections + OTHER_FILES
  const [, most] = /^Max open files +\S+ +(\d+)/m.exec(readLimits()) ?? []
  if (most === undefined || Number(most) >= needed) return undefined
  return `a process may open ${formatCount(Number(most))} files here, and this needs ${formatCount(needed)}: say "ulimit -n ${needed}" first, as root`
}

/** Without /proc nothing is known, and it is tried. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
