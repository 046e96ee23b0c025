/** Where a pull writes to, and in which format. */

import type { Stats } from 'node:fs'
import { readlink, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { InputFormat } from '../../items/read-items.ts'
import { Failure } from '../failure.ts'
import { formatOfName } from '../file-name.ts'
import type { SettingValues } from '../setting-values.ts'

export interface PullOutput {
  readonly format: InputFormat
  /** The columns that were asked for; undefined: all fields that items have. */
  readonly columns: readonly string[] | undefined
  readonly isPacked: boolean
  /** Undefined: standard output. Where it is a link, the file that it leads to. */
  readonly path: string | undefined
  /** Whether it is a file, or can become one; otherwise it is a pipe or a device, which cannot be replaced. */
  readonly isFile: boolean
  /** Whether the file is there. */
  readonly isThere: boolean
}

/** Throws a Failure where the settings contradict one another, or the path cannot be a file. */
export async function outputOf(settings: SettingValues): Promise<PullOutput> {
  const given = settings.get('output')
  const path = given === '-' ? undefined : given
  const format = settings.get('format') ?? formatOfName(path ?? '') ?? 'ndjson'
  const columns = settings.get('columns')
  if (columns !== undefined && format !== 'csv')
    throw new Failure(2, `--columns is for CSV, and this is ${format}. Leave it out, or add --format csv.`)
  const place = path === undefined ? standardOutput(settings) : await placeOf(path)
  return { format, columns, isPacked: /\.gz$/i.test(path ?? ''), ...place }
}

type Place = Pick<PullOutput, 'path' | 'isFile' | 'isThere'>

function standardOutput(settings: SettingValues): Place {
  if (settings.get('resume'))
    throw new Failure(2, '--resume needs a file to go on with. Name it: -o FILE, as in the pull that was stopped.')
  return { path: undefined, isFile: false, isThere: false }
}

async function placeOf(path: string): Promise<Place> {
  const existing: Stats | undefined = await stat(path).catch(() => undefined)
  if (existing?.isDirectory()) throw new Failure(2, `${path} is a directory. Name a file in it.`)
  if (existing?.isSocket()) throw new Failure(2, `${path} is a socket, and not for writing items to. Name a file.`)
  const isFile = existing?.isFile() ?? true
  return { path: isFile ? await linkedPath(path) : path, isFile, isThere: isFile && existing !== undefined }
}

/** Where a link leads to, also one to a file that is not there yet; any other path as it is. */
async function linkedPath(path: string): Promise<string> {
  const target = await readlink(path).catch(() => undefined)
  return target === undefined ? path : realpath(path).catch(() => resolve(dirname(path), target))
}
