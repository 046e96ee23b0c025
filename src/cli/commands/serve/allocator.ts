/** Makes the allocator of the C library return memory to the system, where there is little of it. */

import cluster from 'node:cluster'
import { availableMemory, FULL_MEMORY_BYTES } from '../../../memory/memory-plan.ts'
import { restartProgram } from '../../../program-files/program-files.ts'

/**
 * By default, glibc has an arena per thread and keeps freed blocks of up to 32 MiB in them. Pages and bodies of a few megabytes
 * that pass from thread to thread leave so many gaps that a server takes twice the memory it uses. With these variables it has
 * one arena, and what is larger than a piece of a body is unmapped when it is freed. That is slower, but not much.
 */
const VARIABLES = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** Replaces this process by one with the variables, under the same process id. Workers inherit them. */
export function tuneAllocator(): void {
  // The script that starts Reams from a clone sets the threshold, but not this one.
  const isTuned = process.env['MALLOC_ARENA_MAX'] !== undefined
  // The channel to a parent process would be lost, and Bun has another allocator.
  const isPossible = process.platform === 'linux' && !process.versions['bun'] && process.send === undefined
  if (isTuned || !isPossible || !cluster.isPrimary || availableMemory() >= FULL_MEMORY_BYTES) return
  restartProgram(VARIABLES)
}
