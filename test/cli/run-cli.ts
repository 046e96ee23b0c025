/** Runs the real program in a directory of its own: inside this process, or as a process where only that can show something. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { getPriority, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** Halves the time that the program takes to start, hundreds of times over. */
export const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/reams', import.meta.url))

export interface CliOptions {
  /** The working directory. */
  readonly in: string
  /** Variables besides the plain ones; the REAMS_… of the surroundings are left out. */
  readonly variables?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  /** The user and group to run as. */
  readonly uid?: number
  /** Another form of the program than the clone's: an executable, say. */
  readonly program?: readonly string[]
  /** A program, with its arguments, that runs it. */
  readonly under?: readonly string[]
}

export interface CliResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The running programs, by their working directories. */
const running = new Map<string, Set<ChildProcess>>()

export class RunningCli {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly #closed: Promise<unknown[]>

  constructor(words: readonly string[], options: CliOptions) {
    // Another runtime than this one: Bun.
    const runtime = process.env['REAMS_TEST_RUNTIME'] ?? process.execPath
    const [program = '', ...others] = [...(options.under ?? []), ...(options.program ?? [runtime, MAIN]), ...words]
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
    const here = running.get(options.in)?.add(this.child)
    this.child.once('exit', () => here?.delete(this.child))
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

/** Where the program may be run inside this process: one at a time, by the user of the tests. */
export type InsideOptions = Pick<CliOptions, 'in' | 'variables' | 'input'>

/** Runs the program inside this process, which spares it a start of 0.3 s. */
export async function runInside(words: readonly string[], options: InsideOptions): Promise<CliResult> {
  const { runProgram } = await import('../../src/cli/program.ts')
  // What the test runner has still to write to stdout goes out first.
  await setImmediate()
  using surroundings = new Surroundings(options)
  const status = await runProgram(words)
  return { status, stdout: surroundings.stdout(), stderr: surroundings.stderr() }
}

/** All that a program finds around it. This process gets its own back at the end. */
class Surroundings {
  readonly stdout = collect(process.stdout)
  readonly stderr = collect(process.stderr)
  readonly #directory = process.cwd()
  readonly #variables = { ...process.env }
  readonly #stdin = process.stdin
  readonly #priority = getPriority()

  constructor(options: InsideOptions) {
    process.chdir(options.in)
    process.env = {
      PATH: process.env['PATH'],
      TMPDIR: temporaryFilesOf(options.in),
      ...options.variables,
    }
    setStdin(Readable.from([Buffer.from(options.input ?? '')]))
  }

  [Symbol.dispose](): void {
    process.chdir(this.#directory)
    process.env = this.#variables
    setStdin(this.#stdin)
    if (getPriority() !== this.#priority) raisePriority(this.#priority)
    for (const output of [this.stdout, this.stderr]) output[Symbol.dispose]()
  }
}

/** A backup gives way to others. Only root can take that back; anybody else goes on as slowly. */
function raisePriority(priority: number): void {
  try {
    setPriority(priority)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR')) throw error
  }
}

function setStdin(value: Readable): void {
  Object.defineProperty(process, 'stdin', { value, configurable: true })
}

/** Keeps what is written, in place of writing it. */
function collect(stream: NodeJS.WriteStream): (() => string) & Disposable {
  const { write, isTTY } = stream
  const chunks: Buffer[] = []
  stream.isTTY = false
  stream.write = (chunk: string | Uint8Array, ...others: unknown[]): boolean => {
    // The test runner tells its parent of tests by such messages on stdout.
    if (typeof chunk !== 'string' && chunk[0] === 0xff) return write.call(stream, chunk)
    chunks.push(Buffer.from(chunk as string))
    const written = others.at(-1)
    if (typeof written === 'function') process.nextTick(() => written())
    return true
  }
  const restore = (): void => {
    Object.assign(stream, { write, isTTY })
  }
  return Object.assign(() => Buffer.concat(chunks).toString(), { [Symbol.dispose]: restore })
}

/** Runs clean-up at the end of a test or of a suite. */
export interface Scope {
  after(end: () => unknown): void
}

/** For what all tests of a suite share. To be called in the suite, not in one of its hooks. */
export function suiteScope(): Scope {
  const ends: (() => unknown)[] = []
  after(async () => {
    for (const end of ends) await end()
  })
  return { after: (end) => ends.push(end) }
}

/** Runs the program until the test is over, if it does not end before. */
export function startCli(scope: Scope, words: readonly string[], options: CliOptions): RunningCli {
  const cli = new RunningCli(words, options)
  scope.after(() => cli.child.kill('SIGKILL'))
  return cli
}

/** A running server and its address, which is that of its port if it has a base URL. */
export async function startServer(scope: Scope, words: readonly string[], options: CliOptions) {
  const cli = startCli(scope, ['serve', '--port', '0', ...words], options)
  await cli.prints('Ctrl-C stops it.')
  const port = /\(port (\d+) of /.exec(cli.stdout)?.[1]
  const url = port ? `http://127.0.0.1:${port}` : (/https?:\/\/[^/\s]+/.exec(cli.stdout)?.[0] ?? '')
  return { cli, url, port: Number(new URL(url).port), get: (path: string) => fetch(`${url}${path}`) }
}

/** The processes that a process has started. */
export function childrenOf(pid = 0): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

/**
 * A directory that is gone after the test; the program puts its temporary files into one within it. Programs that still run there
 * are killed first: they could create files meanwhile, and keep the process of the tests from ending.
 */
export function workDirectory(scope: Scope): string {
  const path = mkdtempSync(join(tmpdir(), 'reams-test-'))
  const programs = new Set<ChildProcess>()
  running.set(path, programs)
  scope.after(async () => {
    await Promise.all([...programs].map((program) => program.kill('SIGKILL') && once(program, 'exit')))
    rmSync(path, { recursive: true, force: true, maxRetries: 10 })
  })
  mkdirSync(temporaryFilesOf(path))
  chmodSync(path, 0o755)
  chmodSync(temporaryFilesOf(path), 0o777)
  return path
}

export function temporaryFilesOf(directory: string): string {
  return join(directory, 'tmp')
}
