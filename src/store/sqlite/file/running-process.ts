/** Which process it was, so that another one can tell later whether it still runs. */

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

export interface RunningProcess {
  readonly pid: number
  /** Names the machine from one start to the next. */
  readonly boot: string
  /** Where `pid` counts: in another container it is another process. Empty where there is only one such place. */
  readonly namespace: string
  /** Tells it from a later process with the same number; empty where that is not known. */
  readonly birth: string
}

export function thisProcess(): RunningProcess {
  return {
    pid: process.pid,
    // The name of the host stands in where the system does not say, as on macOS.
    boot: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? hostname(),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid'))?.replaceAll(/\D/g, '') ?? '',
    birth: birthOf(process.pid) ?? '',
  }
}

/** Undefined where it cannot be seen from here: on another machine, in another container, before the last start. */
export function isRunning({ pid, boot, namespace, birth }: RunningProcess): boolean | undefined {
  const here = thisProcess()
  if (boot !== here.boot || namespace !== here.namespace) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it runs, and is somebody else's.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  const now = birthOf(pid)
  if (now === 'ended') return false
  return now === undefined || birth === '' || now === birth
}

/** On Linux, the time since the start of the machine at which the process began. */
function birthOf(pid: number): string | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = text?.replace(/^.*\) /s, '').split(' ') ?? []
  // One that has ended, and that its parent has not taken note of yet.
  return fields[0] === 'Z' ? 'ended' : fields[19]
}

export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
