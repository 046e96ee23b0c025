/** A disk whose syncs take longer than they do: strace holds up the thread that asks for one. */

import { readFileSync } from 'node:fs'
import { STRACE } from '../test/faults/needs.ts'
import type { Program } from './child-process.ts'
import { median } from './measure.ts'

export const ADDED_MS = 2

/** SQLite syncs with one of the two, depending on how it was built. */
const SYNCS = 'fsync,fdatasync'

/** Why there can be no slow disk here; undefined if there can. */
export const lackOfSlowDisk = STRACE

/** The program on a slow disk. Only its syncs are stopped: whatever else it does goes on at full speed. */
export function onSlowDisk(program: Program, traceFile: string): Program {
  const delay = `inject=${SYNCS}:delay_enter=${ADDED_MS * 1000}`
  // With -D it is the program that is our child. -T writes down how long each call took, the delay included.
  const options = ['-D', '-f', '--seccomp-bpf', '-T', '-e', `trace=${SYNCS}`, '-e', delay, '-o', traceFile]
  return ['strace', ...options, ...program]
}

/** How long a sync took, of those that the file tells of. Throws if the disk was not slow. */
export function medianSyncMs(traceFile: string): number {
  const seconds = readFileSync(traceFile, 'utf8').matchAll(/<(\d+\.\d+)>$/gm)
  const syncMs = median([...seconds].map(([, duration]) => Number(duration) * 1000))
  if (syncMs < ADDED_MS) throw new Error(`A sync took ${syncMs} ms, and was to take at least ${ADDED_MS} ms.`)
  return syncMs
}
