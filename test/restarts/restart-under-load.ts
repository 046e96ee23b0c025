/** Restarts two servers behind nginx by turns, while clients read and write, and counts what failed. */

import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../bench/random.ts'
import { temporaryFilesOf } from '../cli/run-cli.ts'
import { ReamsProcess } from '../faults/reams-process.ts'
import { type Findings, Report } from '../faults/report.ts'
import { StoreUnderTest } from '../faults/store-under-test.ts'
import { shownConfigurations, startNginx } from '../nginx.ts'
import { freePort } from '../store/free-port.ts'
import { waitUntil } from '../wait-until.ts'

/** Without idempotency keys: no client sends anything again. */
const CLIENTS = { readers: 8, writers: 0, keylessWriters: 8, isSteady: true }
/** Requests that the servers answer between two restarts, at least: each has warm connections to both. */
const REQUESTS_BETWEEN = 200

interface RestartOptions {
  /** An empty one. */
  readonly directory: string
  readonly restarts: number
  /** Processes of each server. */
  readonly workers: number
  readonly signal?: AbortSignal
  readonly onRestart?: (done: number) => void
}

export interface RestartReport {
  readonly reads: number
  readonly writes: number
  /** Requests that failed, and what is wrong with the store in the end. */
  readonly findings: Findings
  /** Of nginx. */
  readonly log: string
}

export async function restartUnderLoad(options: RestartOptions): Promise<RestartReport> {
  const { directory, restarts, workers, signal, onRestart } = options
  const report = new Report()
  const { findings } = report
  const location = join(directory, 'reams.db')
  // Bodies that nginx keeps in files are written by another user.
  mkdirSync(temporaryFilesOf(directory), { recursive: true })
  chmodSync(directory, 0o755)
  chmodSync(temporaryFilesOf(directory), 0o777)
  await using resources = new AsyncDisposableStack()
  const subject = resources.use(await StoreUnderTest.create({ location }, report, createRandom(1)))
  const proxyPort = await freePort()
  const url = `http://127.0.0.1:${proxyPort}`

  const start = async (port: number) => {
    const words = [
      'serve',
      '--port',
      `${port}`,
      '--base-url',
      url,
      '--log-requests',
      'errors',
      '--workers',
      `${workers}`,
    ]
    const server = resources.use(new ReamsProcess(words, { variables: { REAMS_STORE: location } }))
    return { server, port: Number(new URL(await server.address()).port) }
  }
  let [older, newer] = [await start(0), await start(0)]
  const [, shown = ''] = shownConfigurations()
  const configuration = [older, newer].reduce(
    (text, { port }, index) => text.replace(`127.0.0.1:${8080 + index}`, `127.0.0.1:${port}`),
    shown.replace('listen 80', `listen 127.0.0.1:${proxyPort}`),
  )
  const nginx = resources.use(await startNginx(directory, configuration))

  const workload = subject.work({ ...CLIENTS, url })
  const requests = () => workload.reads + workload.acknowledgements.length
  try {
    for (let done = 0; done < restarts; done++) {
      signal?.throwIfAborted()
      const due = requests() + REQUESTS_BETWEEN
      await waitUntil(() => requests() >= due || findings.total > 0)
      const { status, stderr } = await older.server.stop()
      // A 404 is logged too.
      const errors = stderr.split('\n').filter((line) => line !== '' && !line.includes('"status":404'))
      if (status !== 0 || errors.length > 0) findings.add('other', `a server ended with ${status}: ${errors}`)
      ;[older, newer] = [newer, await start(older.port)]
      onRestart?.(done + 1)
    }
  } finally {
    await workload.stop()
  }
  await subject.check()
  return { reads: workload.reads, writes: workload.acknowledgements.length, findings, log: nginx.log() }
}
