/** Programs of this repository as processes of their own: one that runs to its end, and one that serves. */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Memory, MemorySampler } from './memory.ts'

/** A command and the words that it begins with. */
export type Program = readonly [command: string, ...words: string[]]

/** As users start it. */
export const REAMS: Program = [pathOf('../bin/reams')]
/** The same with its log in a file. */
export function loggingTo(file: string): Program {
  return ['sh', '-c', 'file=$1; shift; exec "$@" 2>>"$file"', 'sh', file, ...REAMS]
}
/** What follows `serve` where every page has to come from the store. */
export const WITHOUT_CACHE = ['--cache-bytes', '0']
export const ROW_INSERT: Program = nodeProgram('./row-insert.ts')
export const HAND_WRITTEN_SERVER: Program = nodeProgram('./hand-written-server.ts')
/** With the flags of `bin/reams`. */
export const STORELESS_SERVER: Program = nodeProgram('./storeless-server.ts', '--max-semi-space-size=4')
export const BARE_SERVER: Program = nodeProgram('./bare-server.ts')
export const AUTOCANNON_LOAD: Program = nodeProgram('./autocannon-load.ts')
export const FETCH_LOOP: Program = nodeProgram('./fetch-loop.ts')
export const DELAYED_SERVER: Program = nodeProgram('./delayed-server.ts')
export const LOAD: Program = nodeProgram('./load.ts')

export interface FinishedProgram {
  /** From before the start of the process until after its end. */
  readonly wallMs: number
  readonly stdout: string
  readonly memory: readonly Memory[]
}

/** Rejects when the program fails. */
export async function runProgram(
  program: Program,
  words: readonly string[],
  signal: AbortSignal,
): Promise<FinishedProgram> {
  const startedAt = performance.now()
  const child = startProgram(program, words, signal)
  const sampler = new MemorySampler(child.pid ?? 0)
  try {
    let stdout = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    const status = await ended(child)
    const wallMs = performance.now() - startedAt
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`${[...program, ...words].join(' ')} ended with status ${status}.`)
    return { wallMs, stdout, memory: sampler.samples }
  } finally {
    sampler.stop()
  }
}

export interface RunningServer extends AsyncDisposable {
  readonly url: string
  readonly pid: number
}

const HTTP_ADDRESS = /http:\/\/[\d.]+:\d+/

/** Resolves when the program has printed its address. */
export async function startServer(
  program: Program,
  words: readonly string[],
  signal: AbortSignal,
  address = HTTP_ADDRESS,
  isQuiet = false,
): Promise<RunningServer> {
  const child = startProgram(program, words, signal, isQuiet)
  const closed = ended(child)
  const url = await addressPrintedBy(child, address)
  signal.throwIfAborted()
  if (url === undefined) throw new Error(`${[...program, ...words].join(' ')} ended before it served.`)
  return runningServer(child, closed, url)
}

/** A process that serves at `url`, until it is told to end; `closed` resolves when it has. */
export function runningServer(child: ChildProcess, closed: Promise<unknown>, url: string): RunningServer {
  return {
    url,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await closed
    },
  }
}

export function nodeProgram(script: string, ...flags: string[]): Program {
  return [process.execPath, '--disable-warning=ExperimentalWarning', ...flags, pathOf(script)]
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}

/** What it complains about is shown, unless it is known to. */
export function startProgram(
  [command, ...first]: Program,
  words: readonly string[],
  signal: AbortSignal,
  isQuiet = false,
): ChildProcess {
  const child = spawn(command, [...first, ...words], {
    stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit'],
    env: environmentWithoutSettings(),
    signal,
  })
  // The abort of the signal is reported here as well; what counts is that the process has ended.
  child.on('error', () => {})
  return child
}

/** Resolves with its status. */
export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve))
}

/** A REAMS_… variable of whoever runs the bench must not change what is measured. What a log costs is a question of its own. */
function environmentWithoutSettings(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('REAMS_'))
  return { ...Object.fromEntries(others), REAMS_LOG_REQUESTS: 'none' }
}

async function addressPrintedBy(child: ChildProcess, address: RegExp): Promise<string | undefined> {
  let printed = ''
  for await (const text of child.stdout?.setEncoding('utf8').iterator({ destroyOnReturn: false }) ?? []) {
    printed += text
    const url = address.exec(printed)?.[0]
    if (url !== undefined) return url
  }
  return undefined
}
