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
  /** What went wrong with each request that failed, whether a failed write was stored all the same, and nginx's log. */
  readonly failures: readonly string[]
  /** Acknowledged items that are missing, and items that are stored more than once. */
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
  const acknowledged: number[] = []
  const failedWrites: number[] = []
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
  /** Returns whether it succeeded. */
  const attempt = async (kind: keyof typeof counts, good: number, sent: Promise<number>): Promise<boolean> => {
    const status = await sent.catch((error: Error) => error.message)
    counts[kind]++
    if (status !== good) failures.push(`${new Date().toISOString()} ${kind}: ${status}`)
    return status === good
  }
  const readOn = async (): Promise<void> => {
    while (!isOver) await attempt('reads', 200, send('GET', '/events'))
  }
  let nextId = 1
  const writeOn = async (): Promise<void> => {
    while (!isOver) {
      const id = nextId++
      const isStored = await attempt('writes', 201, send('POST', '/written', `{"id":${id}}`))
      ;(isStored ? acknowledged : failedWrites).push(id)
    }
  }
  const clients = [...Array.from({ length: READERS }, readOn), ...Array.from({ length: WRITERS }, writeOn)]
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
  const { stdout: lines } = await runCli(['export', 'written'], { in: directory })
  const stored = new Map<number, number>()
  for (const line of lines.trim().split('\n')) {
    const { id } = JSON.parse(line) as { id: number }
    stored.set(id, (stored.get(id) ?? 0) + 1)
  }
  for (const id of failedWrites) failures.push(`failed write ${id}: ${stored.has(id) ? 'stored' : 'not stored'}`)
  if (failures.length > 0) failures.push(nginx.log())
  const missing = acknowledged.filter((id) => !stored.has(id)).length
  const repeated = [...stored.values()].filter((times) => times > 1).length
  return { ...counts, failures, lost: missing + repeated }
}
