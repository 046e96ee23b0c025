/** Results go to stdout, everything else to stderr; how figures and tables are written. */

import { counted, formatCount, makeVisible } from '../contract/message-text.ts'
import { lastPage } from '../contract/page.ts'
import type { Head, Retention } from '../store/store.ts'
import type { SettingValues } from './setting-values.ts'

/** Resolves when the text has left the process. A reader that has gone, as in `| head`, is no error. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => {
      if (error && !isReaderGone(error)) reject(error)
      else resolve()
    })
  })
}

/** Where a command writes items. Items on stdout leave no room there for a report. */
type ItemsTarget = 'stdout' | 'file'

/**
 * The end of a command: prints `sentence`, or with `--json` the same facts as one object on one line. Sentences go to stderr
 * where there are items, and the object does where the items are on stdout. No sentence: nothing but the object is printed.
 */
export async function report(
  settings: SettingValues,
  facts: object,
  sentence: string | undefined,
  items?: ItemsTarget,
): Promise<void> {
  const isJson = settings.get('json')
  if (isJson && items === 'stdout') process.stderr.write(`${toJson(facts)}\n`)
  else if (isJson) await print(toJson(facts))
  else if (sentence !== undefined && items === undefined) await print(sentence)
  else if (sentence !== undefined) printError(sentence)
}

/** A line about a part of the work. With `--json`, only the object at the end has it. */
export async function reportPart(settings: SettingValues, sentence: string): Promise<void> {
  if (!settings.get('json')) await print(sentence)
}

/** Escapes what a terminal would act upon: a fact can come from a file or a hostile server. Lists are indented. */
export function toJson(facts: object, indent = Array.isArray(facts) ? 2 : 0): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(facts, null, indent).replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.split('').map(escaped).join(''),
  )
}

/** For `duration_ms`. */
export function msSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}

/** One line: what stands in it can come from a file, and must not steer the terminal. */
export function printError(text: string): void {
  process.stderr.write(`${makeVisible(text)}\n`)
}

/** Something that the user did not expect, while a command goes on: a progress bar is drawn again below it. */
export function printNote(text: string): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  printError(`reams: ${text}`)
}

export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}

/** Columns in `rightAligned` (counted from 0) hold numbers. */
export function alignTable(rows: readonly (readonly string[])[], rightAligned: readonly number[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const align = (cell: string, column: number) =>
    rightAligned.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  return rows.map((row) => row.map(align).join('  ').trimEnd()).join('\n')
}

export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`
  const seconds = durationMs / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(Math.round(seconds) / 60)
  if (minutes < 60) return `${minutes} min ${Math.round(seconds) % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `2.0 s (617 items/s)`. Below a second the rate says more about the start of the program. */
export function formatRate(items: number, durationMs: number): string {
  const rate = durationMs < 1000 ? '' : ` (${formatCount((items / durationMs) * 1000)} items/s)`
  return formatDuration(durationMs) + rate
}

const BYTE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** `999 bytes`, `1.2 KB`, `152 MB`. */
export function formatBytes(bytes: number): string {
  let value = Math.round(bytes)
  let unit = 0
  for (; value >= 999.5 && unit < BYTE_UNITS.length - 1; unit++) value /= 1000
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${BYTE_UNITS[unit]}`
}

const TIME_UNITS: readonly [noun: string, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]
const SIZE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** `history is kept for 7 days, up to 512 MiB`: exactly what was set. */
export function formatRetention({ retentionMs, retentionBytes }: Retention): string {
  if (retentionMs === 0) return 'no history is kept'
  const [noun, ms] = TIME_UNITS.find((unit) => retentionMs % unit[1] === 0) ?? ['millisecond', 1]
  let [size, unit] = [retentionBytes, 0]
  for (; size % 1024 === 0 && unit < SIZE_UNITS.length - 1; unit++) size /= 1024
  const most = unit === 0 ? counted(size, 'byte') : `${formatCount(size)} ${SIZE_UNITS[unit]}`
  return `history is kept for ${counted(retentionMs / ms, noun)}, up to ${most}`
}

/** `1,234 items, 3 pages`. */
export function sizeOf(head: Head): string {
  return `${counted(head.live, 'item')}, ${pagesOf(head)}`
}

/** Null if it is unpaginated. */
export function pageCountOf(head: Head): number | null {
  return head.isPaginated ? lastPage(head.live) : null
}

/** `3 pages`, or `unpaginated`. */
export function pagesOf(head: Head): string {
  return head.isPaginated ? counted(lastPage(head.live), 'page') : 'unpaginated'
}
