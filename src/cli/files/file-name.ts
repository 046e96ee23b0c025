/** What the name of a file says about it: its format, and the name of the collection made from it; the latter for tables too. */

import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { keyFieldsFlaw } from '../../contract/key.ts'
import { isCollectionName, NAME_RULE } from '../../contract/name.ts'
import type { InputFormat } from '../../items/read-items.ts'
import { Failure } from '../failure.ts'

const FORMATS: ReadonlyMap<string, InputFormat> = new Map([
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.json', 'json'],
  ['.csv', 'csv'],
  ['.tsv', 'tsv'],
])

/** A colon can also be part of a file's name: then there is a file of that name. */
const FILE_AND_KEY = /^(?<path>.+):(?<keyField>[^:/]+)$/s

/** `base`, the extension that tells the format, and whether `.gz` follows it. */
const PARTS = /^(?<base>.*?)(?<extension>\.[^.]*)?(?:\.gz)?$/is

/** The format that the extension stands for, `.gz` left aside; undefined if it stands for none. */
export function formatOfName(path: string): InputFormat | undefined {
  const extension = PARTS.exec(basename(path))?.groups?.['extension']?.toLowerCase() ?? ''
  return FORMATS.get(extension)
}

/** Such a file is an object with all items in `features`. It can be read, but not written. */
export function isGeoJson(path: string): boolean {
  return PARTS.exec(basename(path))?.groups?.['extension']?.toLowerCase() === '.geojson'
}

/** The same, where there has to be one. */
export function formatOfFile(path: string): InputFormat {
  const format = formatOfName(path)
  if (format !== undefined) return format
  const known = [...FORMATS.keys()].join(', ')
  throw new Failure(
    2,
    `The name of ${path} does not show its format: expected ${known}, each also with .gz. Or add --format ndjson, json, csv or tsv.`,
  )
}

/** `My Events.ndjson.gz` → `my-events`: lower case, no extensions, a dash for what a name cannot hold. */
export function collectionNameOfFile(path: string): string {
  const base = PARTS.exec(basename(path))?.groups?.['base'] ?? ''
  return collectionNameOf(base, path, `Rename the file, or load it under a name of your own: reams import NAME ${path}`)
}

/** `public."My Events"` → `my-events`. */
export function collectionNameOfTable(table: string): string {
  const [, base = ''] = /(?:^|\.)("(?:[^"]|"")*"|[^."]+)$/.exec(table) ?? []
  return collectionNameOf(base, table, `Load it under a name of your own: reams import NAME --table '${table}'`)
}

/** Whether a collection has another name than the file or the table, `of`, that it is made of. */
export function isRenamed(name: string, of: string): boolean {
  const base = basename(of).replaceAll(/["`]/g, '')
  return base !== name && !base.startsWith(`${name}.`) && !base.endsWith(`.${name}`)
}

function collectionNameOf(base: string, whole: string, advice: string): string {
  const name = base
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
  if (isCollectionName(name)) return name
  const came = name === '' ? 'Nothing is left' : `"${name}" comes out`
  throw new Failure(2, `No collection can be named after ${whole}. ${came}, and a name is ${NAME_RULE}. ${advice}`)
}

/** A file that becomes a collection. */
export interface NamedFile {
  readonly path: string
  /** The name of the collection. */
  readonly name: string
  /** The key field, or several, in `FILE:FIELD`. */
  readonly keyField: string | undefined
}

/** Two files of one name are refused. */
export function namedFiles(words: readonly string[]): NamedFile[] {
  const files = words.map((word) => {
    const { path = word, keyField } = (!existsSync(word) && FILE_AND_KEY.exec(word)?.groups) || {}
    const flaw = keyField === undefined ? undefined : keyFieldsFlaw(keyField)
    if (flaw !== undefined) throw new Failure(2, `Invalid key "${keyField}" of ${path}: ${flaw}.`)
    return { path, name: collectionNameOfFile(path), keyField }
  })
  refuseSameNames(
    files.map(({ name, path }) => ({ name, of: path })),
    'Rename one of them.',
  )
  return files
}

/** `of`: what the name was made of. */
export function refuseSameNames(
  named: readonly { readonly name: string; readonly of: string }[],
  advice: string,
): void {
  for (const each of named) {
    const other = named.find(({ name }) => name === each.name)
    if (other !== undefined && other !== each)
      throw new Failure(2, `${other.of} and ${each.of} would both be the collection "${each.name}". ${advice}`)
  }
}
