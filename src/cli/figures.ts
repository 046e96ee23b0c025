/** Figures as people read them: counts with separators, durations with a unit. */

import { lastPage } from '../contract/page.ts'
import type { Head } from '../store/store.ts'

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export function formatCount(count: number): string {
  return COUNT.format(count)
}

/** `1 item`, `1,234 items`. */
export function formatItems(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'item' : 'items'}`
}

export function formatPages(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'page' : 'pages'}`
}

export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`
  const seconds = durationMs / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(Math.round(seconds) / 60)
  if (minutes < 60) return `${minutes} min ${Math.round(seconds) % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const BYTE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** `999 bytes`, `1.2 KB`, `152 MB`. */
export function formatBytes(bytes: number): string {
  let value = Math.round(bytes)
  let unit = 0
  for (; value >= 999.5 && unit < BYTE_UNITS.length - 1; unit++) value /= 1000
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${BYTE_UNITS[unit]}`
}

/** `1,234 items, 3 pages`. */
export function sizeOf(head: Head): string {
  return `${formatItems(head.live)}, ${pagesOf(head)}`
}

/** `3 pages`, or `unpaginated`. */
export function pagesOf(head: Head): string {
  return head.isPaginated ? formatPages(lastPage(head.live)) : 'unpaginated'
}
