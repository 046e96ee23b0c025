/**
 * The files that Reams needs beside its modules: tables as SQL, the explorer's script and style, the threads. In a clone and in a
 * package they lie among the modules; the executable carries them inside.
 */

import type { ClusterSettings } from 'node:cluster'
import { readFileSync } from 'node:fs'
import { Worker, type WorkerOptions } from 'node:worker_threads'

// Only Node has it.
const sea = process.getBuiltinModule('node:sea')
const isExecutable = sea?.isSea() ?? false

/** `path` is the one under src/, or under lib/ in a package. */
export function readProgramText(path: string): string {
  return isExecutable ? sea.getAsset(path, 'utf8') : readFileSync(placeOf(path), 'utf8')
}

/** The thread of a module: `path` is without its extension, which is .ts in a clone and .js in a package. */
export function startThread(path: string, options: WorkerOptions): Worker {
  if (isExecutable) return new Worker(sea.getAsset(`${path}.js`, 'utf8'), { ...options, eval: true })
  const [extension = ''] = /\.[jt]s$/.exec(import.meta.url) ?? []
  return new Worker(placeOf(path + extension), options)
}

/** How `cluster` starts this program with these words. */
export function clusterSettings([first = '', ...others]: readonly string[]): ClusterSettings {
  // Where a script would stand, the executable has the first word; its flags are inside.
  return isExecutable ? { exec: first, args: others, execArgv: [] } : { args: [first, ...others] }
}

/** Runs this program again from its beginning, in the same process, with more variables. Only on Unix. */
export function restartProgram(variables: Readonly<Record<string, string>>): void {
  const [script = '', ...words] = process.argv.slice(1)
  const program = isExecutable ? [] : [...process.execArgv, script]
  process.execve?.(process.execPath, [process.execPath, ...program, ...words], { ...process.env, ...variables })
}

export function readVersion(): string {
  return JSON.parse(readProgramText('../package.json')).version
}

function placeOf(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}
