/** Runs the real program as a process of its own, in a directory of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** Halves the time that the program takes to start, hundreds of times over. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/reams', import.meta.url))

export interface CliOptions {
  /** The working directory. */
  readonly in: string
  /** Variables besides the plain ones; the REAMS_… of the surroundings are left out. */
  readonly variables?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  /** The user and group to run as. */
  readonly uid?: number
  /** A program, with its arguments, that runs it. */
  readonly under?: readonly string[]
}

export interface CliResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export class RunningCli {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly #closed: Promise<unknown[]>

  constructor(words: readonly string[], options: CliOptions) {
    const [program = '', ...others] = [...(options.under ?? []), process.execPath, MAIN, ...words]
    this.child = spawn(program, others, {
      cwd: options.in,
      env: {
        PATH: process.env['PATH'] ?? '',
        TMPDIR: temporaryFilesOf(options.in),
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...options.variables,
      },
      ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    })
    this.#closed = once(this.child, 'close')
    this.child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text
    })
    // A program that has ended need not have read its input.
    this.child.stdin?.on('error', () => {})
    if (options.input !== undefined) this.child.stdin?.end(options.input)
  }

  /** Resolves when stdout holds `text`; fails when the program ends without. */
  async prints(text: string): Promise<void> {
    const ended = this.#closed.then(() => 'ended')
    while (!this.stdout.includes(text)) {
      const next = await Promise.race([ended, this.child.stdout ? once(this.child.stdout, 'data') : ended])
      if (next === 'ended' && !this.stdout.includes(text))
        throw new Error(`The program ended without printing "${text}": ${this.stdout}${this.stderr}`)
    }
  }

  /** Resolves when the program has taken the text, but for what fits into the pipe between. */
  writes(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.child.stdin?.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  async ends(): Promise<CliResult> {
    const [status] = (await this.#closed) as [number | null]
    return { status, stdout: this.stdout, stderr: this.stderr }
  }

  /** Sends the signal and waits for the end. */
  async stop(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' = 'SIGTERM'): Promise<CliResult> {
    this.child.kill(signal)
    return this.ends()
  }
}

export function runCli(words: readonly string[], options: CliOptions): Promise<CliResult> {
  return new RunningCli(words, { input: '', ...options }).ends()
}

/** A running server and its address. */
export async function startServer(t: TestContext, words: readonly string[], options: CliOptions) {
  const cli = new RunningCli(['serve', '--port', '0', ...words], options)
  t.after(() => cli.child.kill('SIGKILL'))
  await cli.prints('Ctrl-C stops it.')
  const url = /http:\/\/[^/\s]+/.exec(cli.stdout)?.[0] ?? ''
  return { cli, url, get: (path: string) => fetch(`${url}${path}`) }
}

/** A directory that is gone after the test; the program puts its temporary files into one within it. */
export function workDirectory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'reams-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  mkdirSync(temporaryFilesOf(path))
  chmodSync(path, 0o755)
  chmodSync(temporaryFilesOf(path), 0o777)
  return path
}

export function temporaryFilesOf(directory: string): string {
  return join(directory, 'tmp')
}
