/** The limits of `reams mirror`: those that are set, and the space that it leaves on the disk of a store in a file. */

import { dirname } from 'node:path'
import { formatCount } from '../../../contract/message-text.ts'
import type { LimitOptions } from '../../../mirror/mirror-limits.ts'
import { readDiskSpace } from '../../../store/sqlite/file/disk-space.ts'
import type { SettingValues } from '../../setting-values.ts'

/** A mirror leaves this part of the disk free, but no more than that many bytes. */
const FREE_SHARE = 0.1
const MAX_FREE_BYTES = 5 * 1024 ** 3

/** In PostgreSQL: how much space there is cannot be seen from here. */
const POSTGRES_BYTES = 100 * 1024 ** 3

export function mirrorLimits(settings: SettingValues): LimitOptions {
  const store = settings.get('store')
  const unset = store.isDatabase ? POSTGRES_BYTES : Number.POSITIVE_INFINITY
  return {
    maxItems: settings.get('maxItems'),
    maxBytes: settings.get('maxBytes') ?? unset,
    checkSpace: async () => (store.isDatabase ? undefined : shortageAt(dirname(store.reveal()))),
  }
}

function shortageAt(directory: string): string | undefined {
  const disk = readDiskSpace(directory)
  if (disk === undefined) return undefined
  const neededBytes = Math.min(disk.totalBytes * FREE_SHARE, MAX_FREE_BYTES)
  if (disk.freeBytes >= neededBytes) return undefined
  const bytes = `${formatCount(disk.freeBytes)} bytes are free on the disk of ${directory}`
  return `Only ${bytes}, and a mirror leaves ${formatCount(Math.ceil(neededBytes))} free. Make room there.`
}
