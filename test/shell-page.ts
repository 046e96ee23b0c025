/**
 * Runs the `sh` blocks of a page, in order, in one shell, as a reader would who types them.
 *
 * A block that follows at once, of another language, is what the commands print: all of it, `…` standing for what differs
 * (see `shown.ts`). A command that ends in `&` stays in the background; what it prints is waited for. Every command has to
 * succeed: a page that shows one that fails says `|| echo "exit status $?"`.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Fence, fencesOf } from './markdown.ts'
import { assertShown, isShown } from './shown.ts'

/** A program in the background logs at any time, also between what the page shows. */
const LOG_LINE = /^\{"level":.*\n/gm

/** How often to look whether a server in the background has printed what the page shows. */
const LOOKS = 3_000

export interface ShellPage {
  readonly markdown: string
  readonly directory: string
  readonly variables: Readonly<Record<string, string>>
  /** A program, with its arguments, that runs the shell: on another machine, say, which has the directory too. */
  readonly under?: readonly string[]
  /** Changes what stands on the page: another port, say. */
  readonly adapt?: (text: string) => string
}

interface Step {
  readonly commands: Fence
  readonly shown: Fence | undefined
}

/** Rejects when a command fails, or prints something else than the page shows. Where it shows nothing, anything is right. */
export async function runShellPage(
  t: TestContext,
  { markdown, directory, variables, under = [], adapt }: ShellPage,
): Promise<void> {
  const shell = new Shell(t, directory, variables, under)
  const changed = adapt ?? ((text) => text)
  for (const { commands, shown } of stepsOf(markdown)) {
    const where = `the block at line ${commands.line}`
    const text = changed(commands.text)
    await shell.run(text, where)
    const expected = shown && changed(shown.text)
    if (expected !== undefined && isBackground(text)) await shell.waitFor(expected)
    const output = shell.rest()
    if (expected !== undefined)
      assertShown(expected, isShown(expected, output) ? output : output.replaceAll(LOG_LINE, ''), where)
  }
  await shell.end()
}

/** Each block of commands, with the block that follows when nothing but a blank line is between the two. */
function stepsOf(markdown: string): Step[] {
  const fences = fencesOf(markdown)
  return fences.flatMap((commands, index) => {
    if (commands.language !== 'sh') return []
    const next = fences[index + 1]
    const isOutput = next !== undefined && next.language !== 'sh' && next.line === endOf(commands) + 2
    return [{ commands, shown: isOutput ? next : undefined }]
  })
}

function isBackground(commands: string): boolean {
  return /&\s*$/.test(commands)
}

function endOf({ line, text }: Fence): number {
  return line + text.split('\n').length
}

class Shell {
  readonly #child
  readonly #directory: string
  readonly #closed: Promise<unknown>
  #printed = ''
  #read = 0
  #blocks = 0

  constructor(
    t: TestContext,
    directory: string,
    variables: Readonly<Record<string, string>>,
    under: readonly string[],
  ) {
    this.#directory = directory
    const [program = '', ...words] = [...under, 'sh', '-e']
    // A group of its own, so that whatever it leaves in the background ends with the test.
    this.#child = spawn(program, words, {
      cwd: directory,
      env: { REAMS_LOG_REQUESTS: 'none', ...variables },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#closed = once(this.#child, 'close')
    t.after(() => this.#killAll())
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#printed += text
      })
    this.#child.stdin.on('error', () => {})
    this.#child.stdin.write('exec 2>&1\n')
  }

  async run(commands: string, where: string): Promise<void> {
    this.#blocks += 1
    const file = join(this.#directory, `.block-${this.#blocks}.sh`)
    const done = `block ${this.#blocks} is done`
    writeFileSync(file, commands)
    this.#child.stdin.write(`. '${file}' </dev/null; printf '%s\\n' '${done}'\n`)
    while (!this.#printed.includes(`${done}\n`, this.#read)) {
      if (this.#child.exitCode !== null)
        throw new Error(`${where} failed with status ${this.#child.exitCode}:\n${commands}${this.rest()}`)
      await pause(10)
    }
    const end = this.#printed.indexOf(`${done}\n`, this.#read)
    this.#printed = this.#printed.slice(0, end) + this.#printed.slice(end + done.length + 1)
  }

  /** Until what was printed is as shown, if it ever is. */
  async waitFor(shown: string): Promise<void> {
    for (let look = 0; look < LOOKS && !isShown(shown, this.#printed.slice(this.#read)); look++) await pause(10)
  }

  /** What was printed since the last time, on either stream. */
  rest(): string {
    const rest = this.#printed.slice(this.#read)
    this.#read = this.#printed.length
    return rest
  }

  async end(): Promise<void> {
    this.#child.stdin.end()
    this.#killAll()
    await this.#closed
  }

  #killAll(): void {
    if (this.#child.pid === undefined) return
    try {
      process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // They have all ended.
    }
  }
}
