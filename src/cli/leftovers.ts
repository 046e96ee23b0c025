/** Files that processes left beside another one when they were killed while they wrote: `NAME.PID-NAMESPACE.part`. */

import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isRunning, thisProcess } from '../store/sqlite/running-process.ts'

/** A file beside another one that is this process's own. */
export function partOf(path: string): string {
  const { pid, namespace } = thisProcess()
  return `${path}.${pid}-${namespace}.part`
}

/** Removes those of processes that are gone. */
export function removeLeftovers(path: string): void {
  const directory = dirname(path)
  const here = thisProcess()
  for (const name of namesIn(directory)) {
    const [, pid, namespace = ''] = /\.(\d+)-(\d*)\.part$/.exec(name) ?? []
    if (pid === undefined || !name.startsWith(`${basename(path)}.`)) continue
    const isGone = isRunning({ ...here, pid: Number(pid), namespace, birth: '' }) === false
    if (isGone) rmSync(join(directory, name), { force: true })
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
