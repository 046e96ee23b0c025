/** Which process it was, so that another one can tell later whether it still runs. */

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

interface RunningProcess {
  readonly pid: number
  /** Names the machine from one start to the next. */
  readonly boot: string
  /** Where `pid` counts: in another container it is another process. Empty where there is only one such place. */
  readonly namespace: string
}

export function thisProcess(): RunningProcess {
  return {
    pid: process.pid,
    // The name of the host stands in where the system does not say, as on macOS.
    boot: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? hostname(),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid'))?.replaceAll(/\D/g, '') ?? '',
  }
}

/** Undefined where it cannot be seen from here: on another machine, in another container, before the last start. */
export function isRunning({ pid, boot, namespace }: RunningProcess): boolean | undefined {
  const here = thisProcess()
  if (boot !== here.boot || namespace !== here.namespace) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it runs, and is somebody else's.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  // One that has ended, and that its parent has not taken note of yet, is a zombie.
  const status = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return status?.replace(/^.*\) /s, '').startsWith('Z') !== true
}

export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
