/** Whether two places are one store, as far as their names tell. */

import { statSync } from 'node:fs'
import type { StoreLocation } from '../store-location.ts'

export function isSameStore(one: StoreLocation, other: StoreLocation): boolean {
  const identity = identityOf(one)
  return identity !== undefined && identity === identityOf(other)
}

/** Undefined where nothing is yet. */
function identityOf(location: StoreLocation): string | undefined {
  return location.isDatabase ? databaseOf(location.label) : fileOf(location.label)
}

/** The same file can have several names. */
function fileOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino}`
}

function databaseOf(label: string): string | undefined {
  if (!URL.canParse(label)) return undefined
  const { hostname, port, pathname, searchParams } = new URL(label)
  const host = searchParams.get('host') ?? (/^(|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'localhost' : hostname)
  const place = [host.toLowerCase(), port || '5432', pathname, searchParams.get('schema') ?? 'reams']
  return place.join(' ')
}
