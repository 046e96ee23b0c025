/** Files that processes left beside another one when they were killed while they wrote: `NAME.PID.part`. */

import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isRunning } from './running-process.ts'

/** Removes those of processes that are gone. */
export function removeLeftovers(path: string): void {
  const directory = dirname(path)
  for (const name of namesIn(directory)) {
    const [, pid] = name.startsWith(`${basename(path)}.`) ? (/\.(\d+)(?:\.old)?\.part$/.exec(name) ?? []) : []
    if (pid !== undefined && !isRunning({ pid: Number(pid), birth: '' })) rmSync(join(directory, name), { force: true })
  }
}

/** None where one may write and not look. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
