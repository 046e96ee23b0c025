/** The writers of an application, by pgbench: each changes one row at random, commits, and goes on. */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { runProgram } from '../child-process.ts'
import type { Workspace } from '../workspace.ts'

export const SOURCE_WRITERS = 8

/** The version that was found, or undefined. */
export async function findPgbench(): Promise<string | undefined> {
  const run = promisify(execFile)
  return run('pgbench', ['--version']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )
}

export interface Updates {
  readonly url: string
  readonly table: string
  /** Its keys are the numbers from 1 to this. */
  readonly rows: number
  readonly seconds: number
  /** Of all writers together, a second; as many as they can where it is missing. */
  readonly rate?: number
  /** How statements are sent: 'simple' is what pgbench does by itself, 'prepared' costs the server least. Default: 'prepared'. */
  readonly protocol?: 'simple' | 'prepared'
}

/** Answers how many commits there were a second. */
export async function updateRows(updates: Updates, workspace: Workspace): Promise<number> {
  const { url, table, rows, seconds, rate, protocol = 'prepared' } = updates
  const script = workspace.path('update.pgbench')
  await writeFile(
    script,
    `\\set id random(1, ${rows})\nUPDATE ${table} SET seats_left = seats_left + 1 WHERE id = :id;\n`,
  )
  const words = ['--no-vacuum', '--protocol', protocol, '--client', String(SOURCE_WRITERS), '--jobs', '2']
  words.push('--time', String(seconds), '--file', script, ...(rate === undefined ? [] : ['--rate', String(rate)]), url)
  const { stdout } = await runProgram(['pgbench'], words, workspace.signal)
  const commits = /^tps = ([\d.]+)/m.exec(stdout)?.[1]
  if (commits === undefined) throw new Error(`pgbench does not tell its rate: ${stdout}`)
  return Number(commits)
}
