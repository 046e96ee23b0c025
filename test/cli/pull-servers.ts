/** What `reams pull` is tried against: a server that keeps the contract, except where a test wants it otherwise. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answered, type Asked, CorrectServer, type ServerOptions, startServer } from '../check/correct-server.ts'
import { waitUntil } from '../wait-until.ts'
import { type RunningCli, runInside, startCli, temporaryFilesOf, workDirectory } from './run-cli.ts'

/** Called before a request is answered; what it gives is the answer instead. `number` counts requests from 1. */
export type Hook = (asked: Asked, number: number) => Answered | 'cut' | undefined

export type Pulled = Awaited<ReturnType<typeof serve>>

class HookedServer extends CorrectServer {
  hook: Hook = () => undefined
  /** Before each answer. */
  delayMs = 0
  readonly asked: Asked[] = []
  inFlight = 0
  mostInFlight = 0
  readonly #cut = new Set<Answered>()

  override answer(asked: Asked): Answered {
    const answered = this.hook(asked, this.asked.push(asked)) ?? super.answer(asked)
    if (answered !== 'cut') return answered
    const cut = super.answer(asked)
    this.#cut.add(cut)
    return cut
  }

  override send(answered: Answered, asked: Asked, response: ServerResponse): void {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
    response.on('close', () => this.inFlight--)
    sleep(this.delayMs, undefined, { ref: false }).then(() => {
      if (!this.#cut.has(answered)) return super.send(answered, asked, response)
      response.writeHead(200, answered.headers).write(answered.body.subarray(0, answered.body.length / 2))
      setTimeout(() => response.destroy(), 5)
    })
  }
}

/** Of pages that were asked for. */
export function pageOf({ query }: Asked): number {
  return Number(new URLSearchParams(query).get('page') ?? 1)
}

/** A directory for the pulls of a collection at `url`. */
export async function serve(t: TestContext, options: ServerOptions = {}) {
  const server = new HookedServer(options)
  const directory = workDirectory(t)
  const { url, close } = await startServer(server)
  t.after(() => close())
  return {
    directory,
    url,
    server,
    /** The numbers of the pages that were asked for, in order. */
    pages: () => server.asked.map(pageOf),
    pull: (...words: string[]) => runInside(['pull', url, ...words], { in: directory }),
    start: (...words: string[]) => startPull(t, directory, url, ...words),
    read: (name: string) => readFileSync(join(directory, name)),
    names: () => namesIn(directory),
  }
}

/** A pull into e.ndjson that gets a signal after a few pages. From then on the server answers at once. */
export async function interruptPull({ server, start }: Pulled, signal: 'SIGINT' | 'SIGTERM' = 'SIGINT') {
  server.delayMs = 60
  const cli = start('-o', 'e.ndjson', '--concurrency', '1')
  await waitUntil(() => server.asked.length >= 5)
  const result = await cli.stop(signal)
  server.delayMs = 0
  return result
}

export function startPull(t: TestContext, directory: string, ...words: string[]): RunningCli {
  return startCli(t, ['pull', ...words], { in: directory })
}

/** Without what belongs to the test; what the program left among its temporary files counts too. */
export function namesIn(directory: string): string[] {
  const left = readdirSync(temporaryFilesOf(directory))
  return [...readdirSync(directory).filter((name) => name !== 'tmp'), ...left].sort()
}

/** Resolves when the note of a part says that some items are certain. */
export async function noteOf(directory: string, name: string): Promise<{ bytes: number; items: number }> {
  const path = join(directory, `${name}.part.json`)
  for (;;) {
    const note = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
    if (note.walk !== undefined) return { bytes: note.bytes, items: note.walk.items }
    await sleep(5)
  }
}

/** Items of a server as NDJSON. */
export function linesOf(items: readonly unknown[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('')
}
