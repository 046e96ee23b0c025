/** Free space on the disk of a store, and how much of it is kept for operations that free space. */

import { statfsSync } from 'node:fs'

export interface DiskSpace {
  readonly freeBytes: number
  readonly totalBytes: number
}

/** Undefined where the file system does not report it. */
export function readDiskSpace(path: string): DiskSpace | undefined {
  try {
    const { bavail, blocks, bsize, frsize } = statfsSync(path)
    // Blocks are counted in fragments, which are smaller than blocks on some file systems.
    const unit = frsize || bsize
    return blocks === 0 ? undefined : { freeBytes: bavail * unit, totalBytes: blocks * unit }
  } catch {
    return undefined
  }
}

export const MAX_RESERVE_BYTES = 16 * 1024 ** 2
export const RESERVE_SHARE = 1 / 16

/**
 * Ordinary writes stop when less than this is free. It also is the size of the reserve file. A step that removes something takes
 * a few hundred kilobytes of the log, but while a reader keeps the log from being reset, many steps add up.
 */
export function reserveBytesOf({ totalBytes }: Pick<DiskSpace, 'totalBytes'>): number {
  return Math.min(MAX_RESERVE_BYTES, Math.floor(totalBytes * RESERVE_SHARE))
}
