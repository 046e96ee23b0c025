/** Which process it was, so that another one can tell later whether it still runs. */

import { readFileSync } from 'node:fs'
import { isSystemError } from './failure.ts'

export interface RunningProcess {
  readonly pid: number
  /** Tells it from a later process with the same number; empty where the system does not say. */
  readonly birth: string
}

export function thisProcess(): RunningProcess {
  return { pid: process.pid, birth: birthOf(process.pid) ?? '' }
}

export function isRunning({ pid, birth }: RunningProcess): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it runs, and is somebody else's.
    return isSystemError(error) && error.code === 'EPERM' && isSame(pid, birth)
  }
  return isSame(pid, birth)
}

function isSame(pid: number, birth: string): boolean {
  const now = birthOf(pid)
  if (now === 'ended') return false
  return now === undefined || birth === '' || now === birth
}

/** On Linux, the boot of the machine and the time since then at which the process began. */
function birthOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    // One that has ended, and that its parent has not taken note of yet.
    return fields[0] === 'Z' ? 'ended' : `${boot} ${fields[19]}`
  } catch {
    return undefined
  }
}
