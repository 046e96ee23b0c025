/** Restarts two servers behind nginx by turns, while clients read and write, and counts what failed. */

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { putLines } from '../cli/items.ts'
import { RunningCli, runCli } from '../cli/run-cli.ts'
import { shownConfigurations, startNginx } from '../nginx.ts'
import { freePort } from '../store/free-port.ts'

const READERS = 8
const WRITERS = 8
/** Requests that the servers answer between two restarts, at least: each has warm connections to both. */
const REQUESTS_BETWEEN = 200

interface RestartOptions {
  /** An empty one. */
  readonly directory: string
  readonly restarts: number
  /** More words for `reams serve`. */
  readonly words?: readonly string[]
  readonly signal?: AbortSignal
  readonly onRestart?: (done: number) => void
}

export interface RestartReport {
  readonly reads: number
  readonly writes: number
  /** What went wrong with each request that failed, and with what the server or nginx did. */
  readonly failures: readonly string[]
  /** Items that were acknowledged and are missing, or are there without having been acknowledged. */
  readonly lost: number
}

export async function restartUnderLoad(options: RestartOptions): Promise<RestartReport> {
  const { directory, restarts, words = [], signal } = options
  await putLines(directory, 'events', '{"id":0}')
  await putLines(directory, 'written', '{"id":0}')
  const { stdout: token } = await runCli(['token', 'create', '--name', 'a', '--scope', 'admin'], { in: directory })
  const ports = [await freePort(), await freePort()]
  const proxyPort = await freePort()
  const failures: string[] = []
  await using resources = new AsyncDisposableStack()

  const start = async (port: number): Promise<RunningCli> => {
    const address = ['--port', String(port), '--base-url', `http://127.0.0.1:${proxyPort}`]
    const server = new RunningCli(['serve', ...address, '--log-requests', 'errors', ...words], { in: directory })
    resources.defer(() => void server.child.kill('SIGKILL'))
    await server.prints('Ctrl-C stops it.')
    return server
  }
  const servers = await Promise.all(ports.map(start))
  const [, shown = ''] = shownConfigurations()
  const nginx = resources.use(
    await startNginx(
      directory,
      ['8080', '8081'].reduce(
        (text, port, index) => text.replace(`127.0.0.1:${port}`, `127.0.0.1:${ports[index]}`),
        shown.replace('listen 80', `listen 127.0.0.1:${proxyPort}`),
      ),
    ),
  )

  const agent = new Agent({ keepAlive: true, maxSockets: READERS + WRITERS })
  resources.defer(() => agent.destroy())
  const send = (method: string, path: string, body?: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token.trim()}`, 'Content-Type': 'application/json' }
      request({ agent, port: proxyPort, method, path, headers }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
        answer.once('error', reject)
      })
        .once('error', reject)
        .end(body)
    })

  let isOver = false
  const counts = { reads: 0, writes: 0 }
  let nextId = 1
  const load = async (kind: keyof typeof counts, sendOne: () => Promise<number>, good: number): Promise<void> => {
    while (!isOver) {
      const status = await sendOne().catch((error: Error) => error.message)
      counts[kind]++
      if (status !== good) failures.push(`${new Date().toISOString()} ${kind}: ${status}`)
    }
  }
  const clients = [
    ...Array.from({ length: READERS }, () => load('reads', () => send('GET', '/events'), 200)),
    ...Array.from({ length: WRITERS }, () => load('writes', () => send('POST', '/written', `{"id":${nextId++}}`), 201)),
  ]
  try {
    for (let done = 0; done < restarts; done++) {
      signal?.throwIfAborted()
      const before = counts.reads + counts.writes
      while (counts.reads + counts.writes < before + REQUESTS_BETWEEN) await sleep(5)
      const which = done % servers.length
      const ended = await servers[which]?.stop('SIGTERM')
      if (ended?.status !== 0 || ended.stderr !== '')
        failures.push(`the server: status ${ended?.status}, ${ended?.stderr}`)
      servers[which] = await start(ports[which] ?? 0)
      options.onRestart?.(done + 1)
    }
  } finally {
    isOver = true
    await Promise.all(clients)
  }
  const { item_count: stored } = (await (await fetch(`http://127.0.0.1:${proxyPort}/written`)).json()) as {
    item_count: number
  }
  if (failures.length > 0) failures.push(nginx.log())
  return { ...counts, failures, lost: Math.abs(stored - 1 - counts.writes) }
}
