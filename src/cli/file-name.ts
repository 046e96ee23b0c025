/** What the name of a file says about it: its format, and the name of the collection made from it. */

import { basename } from 'node:path'
import { isCollectionName, NAME_RULE } from '../contract/name.ts'
import type { InputFormat } from '../items/read-items.ts'
import { Failure } from './failure.ts'

const FORMATS: ReadonlyMap<string, InputFormat> = new Map([
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.json', 'json'],
  ['.csv', 'csv'],
])

/** `base`, the extension that tells the format, and whether `.gz` follows it. */
const PARTS = /^(?<base>.*?)(?<extension>\.[^.]*)?(?:\.gz)?$/is

/** The format that the extension stands for, `.gz` left aside; undefined if it stands for none. */
export function formatOfName(path: string): InputFormat | undefined {
  const extension = PARTS.exec(basename(path))?.groups?.['extension']?.toLowerCase() ?? ''
  return FORMATS.get(extension)
}

/** The same, where there has to be one. */
export function formatOfFile(path: string): InputFormat {
  const format = formatOfName(path)
  if (format !== undefined) return format
  const known = [...FORMATS.keys()].join(', ')
  throw new Failure(
    2,
    `The name of ${path} does not show its format: expected ${known}, each also with .gz. Or add --format ndjson, json or csv.`,
  )
}

/** `My Events.ndjson.gz` → `my-events`: lower case, no extensions, a dash for what a name cannot hold. */
export function collectionNameOfFile(path: string): string {
  const base = PARTS.exec(basename(path))?.groups?.['base'] ?? ''
  const name = base
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
  if (isCollectionName(name)) return name
  const came = name === '' ? 'Nothing is left' : `"${name}" comes out`
  throw new Failure(
    2,
    `No collection can be named after ${path}. ${came}, and a name is ${NAME_RULE}. Rename the file, or load it under a name of your own: reams import NAME ${path}`,
  )
}

/** The files by the names of their collections, in order; two files of one name are refused. */
export function collectionsOfFiles(paths: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const path of paths) {
    const name = collectionNameOfFile(path)
    const other = files.get(name)
    if (other !== undefined)
      throw new Failure(2, `${other} and ${path} would both be the collection "${name}". Rename one of them.`)
    files.set(name, path)
  }
  return files
}
