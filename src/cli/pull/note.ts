/** The note beside the part of a pull: what is being pulled, and how much of it the part holds for certain. */

import { readFile } from 'node:fs/promises'
import type { WalkState } from '../../client/index.ts'
import type { InputFormat } from '../../items/read-items.ts'
import { replaceFile } from '../durable-file.ts'
import { isSystemError } from '../failure.ts'

/** What is pulled: only the same can be gone on with. */
export interface PullSubject {
  readonly url: string
  readonly format: InputFormat
  /** The columns that were asked for. */
  readonly columns: readonly string[] | undefined
  readonly isPacked: boolean
}

/** What is kept of a pull that was stopped. */
export interface Kept {
  /** Of the part; what is behind them is not certain. */
  readonly bytes: number
  /** How far the walk had come then; undefined: nowhere. */
  readonly walk: WalkState | undefined
  /** Whether the part holds NDJSON, of which the file is made in the end; otherwise it is the beginning of the file. */
  readonly isDraft: boolean
  /** The names of the fields so far, where they become columns. */
  readonly fields: readonly string[]
}

export interface PullNote extends PullSubject, Kept {}

/** The columns of CSV are known when all items are. */
export function nothingKept({ format, columns }: PullSubject): Kept {
  return { bytes: 0, walk: undefined, isDraft: format === 'csv' && columns === undefined, fields: [] }
}

const ABOUT = 'How far reams pull has come with the part beside this note. --resume goes on from there.'
const VERSION = 1

/** Undefined where there is none, or what is there is no note. */
export async function readNote(path: string): Promise<PullNote | undefined> {
  try {
    return parseNote(await readFile(path, 'utf8'))
  } catch (error) {
    // ENOTDIR: whoever writes it is told.
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}

export async function writeNote(path: string, note: PullNote): Promise<void> {
  const { columns = null, walk = null } = note
  const text = JSON.stringify({ about: ABOUT, version: VERSION, ...note, columns, walk }, null, 1)
  await replaceFile(path, `${text}\n`)
}

function parseNote(text: string): PullNote | undefined {
  try {
    const { version, url, format, columns, isPacked, bytes, walk, isDraft, fields } = JSON.parse(text)
    const isSound =
      version === VERSION &&
      [url, format].every((value) => typeof value === 'string') &&
      isCount(bytes) &&
      (columns === null || isNames(columns)) &&
      [isPacked, isDraft].every((value) => typeof value === 'boolean') &&
      (walk === null || isWalk(walk)) &&
      isNames(fields)
    if (!isSound) return undefined
    return { url, format, columns: columns ?? undefined, isPacked, bytes, walk: walk ?? undefined, isDraft, fields }
  } catch {
    return undefined
  }
}

/** What is not the same in both, in words; undefined if nothing. */
export function differenceOf(note: PullSubject, now: PullSubject): string | undefined {
  if (note.url !== now.url) return `of ${note.url}`
  if (note.format !== now.format || note.isPacked !== now.isPacked)
    return `${note.format}${note.isPacked ? ' in gzip' : ''}`
  if (String(note.columns) !== String(now.columns)) return `with ${shownColumns(note.columns)}`
  return undefined
}

function shownColumns(columns: readonly string[] | undefined): string {
  return columns === undefined ? 'all columns' : `--columns ${columns.join(',')}`
}

function isWalk({ items, itemCount, anchor }: WalkState): boolean {
  const { page, digest, itemCount: anchored, etag } = anchor
  const isAnchor = typeof digest === 'string' && (etag === undefined || typeof etag === 'string')
  return [items, itemCount, page, anchored].every(isCount) && isAnchor
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
