/** How many connections a process can hold, and still open what its store needs. */

import { readFileSync } from 'node:fs'

/** Files that are no connections of clients: those of the store and of its threads, or connections to PostgreSQL. */
const OTHER_FILES = 200

/** Undefined where the limit of the process is not known, which is so without /proc. */
export function maxConnections(): number | undefined {
  const [, softLimit] = /^Max open files +(\d+)/m.exec(readLimits()) ?? []
  if (softLimit === undefined) return undefined
  return Math.max(Number(softLimit) - OTHER_FILES, Math.floor(Number(softLimit) / 4))
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
