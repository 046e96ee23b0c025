/** Several processes that serve on one port. One that ends is replaced while the others go on. */

import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { clusterSettings } from '../../../program-files/program-files.ts'
import { DataLocation } from '../../data-location.ts'
import { describeFailure, Failure, type FailureStatus } from '../../failure.ts'
import { openStore } from '../../open-store.ts'
import { durationMs } from '../../setting-kind.ts'
import type { SettingValues } from '../../setting-values.ts'
import { Draining } from './draining.ts'
import type { Log } from './log.ts'
import { LOCATIONS_VARIABLE, locationsIn } from './secrets.ts'
import { type RunningServer, startServer } from './server.ts'
import { returnPings, SharedPort } from './shared-port.ts'
import { renewTls } from './tls-files.ts'

/** Where the store is: in the environment, because a password must not be in the arguments of a process. */
const STORE_VARIABLE = 'REAMS_WORKER_STORE'

/** The port as a number: with `--port 0` every worker would get another one once all have died together. */
const PORT_VARIABLE = 'REAMS_WORKER_PORT'

/** The message that tells a worker to end. */
const STOP = 'stop'
/** The message behind the last connection that a worker gets. */
const PORT_CLOSED = 'port closed'
/** The message that tells it to read the TLS files again: the first process has found them right. */
const RENEW = 'renew'

/** A worker that lived this long is replaced almost at once; after one that died sooner the pause doubles. */
const STABLE_MS = 10_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000
/** A worker that takes so much longer than it may to end is killed. */
const LATE_MS = 2_000

const CLEAN_EXIT = 'status 0'

/** In a worker: serves until it is told to stop. */
export async function runWorker(settings: SettingValues, interrupted: Promise<void>, log: Log): Promise<number> {
  const told = (what: string) =>
    new Promise<void>((resolve) => {
      process.on('message', (message) => {
        if (message === what) resolve()
      })
    })
  // Ctrl-C in a terminal, and systemd, signal every process: whichever comes first.
  const begun = Promise.race([interrupted, told(STOP)])
  const latest = begun.then(() => sleep(durationMs(settings.get('drainDelay')) + LATE_MS, undefined, { ref: false }))
  const draining = new Draining(begun, Promise.race([told(PORT_CLOSED), latest]))
  returnPings()
  try {
    const store = await openStore(new DataLocation(process.env[STORE_VARIABLE] ?? ''), {
      workers: settings.get('workers'),
    })
    await using _store = { [Symbol.asyncDispose]: () => store.close() }
    await using server = await startServer(store, settings, log, draining, Number(process.env[PORT_VARIABLE]))
    process.on('message', (message) => {
      if (message === RENEW) renewTls(settings, server, log)
    })
    if (settings.get('adminPort') !== undefined)
      (await import('./worker-metrics.ts')).answerWithMetrics(server.readMetrics)
    await draining.begun
    return 0
  } catch (error) {
    if (process.env['REAMS_DEBUG'] === '1') throw error
    const { exitStatus, message } = describeFailure(error)
    // The first process tells: the other workers may go on.
    await new Promise((resolve) => process.send?.({ failure: message }, resolve))
    return exitStatus
  } finally {
    // The channel to the first process would keep this one alive.
    process.channel?.unref()
  }
}

/** Resolves when all workers serve, or the program was told to stop. Rejects with a Failure if a worker cannot start. */
export async function startWorkers(
  settings: SettingValues,
  location: DataLocation,
  port: number,
  log: Log,
  draining: Draining,
): Promise<RunningServer> {
  const metrics =
    settings.get('adminPort') === undefined ? undefined : new (await import('./worker-metrics.ts')).WorkerMetrics()
  if (settings.isGiven('rateLimit') || settings.isGiven('writeRateLimit'))
    (await import('./shared-counter.ts')).countForWorkers()
  const variables = {
    [STORE_VARIABLE]: location.reveal(),
    [PORT_VARIABLE]: String(port),
    [LOCATIONS_VARIABLE]: locationsIn(settings),
  }
  cluster.setupPrimary(clusterSettings(argumentsFor(settings)))
  const group = createWorkerGroup(variables, settings, log)
  const startAll = async (): Promise<void> => {
    // A configuration error affects all workers: only the first one reports it.
    await group.start()
    await Promise.all(Array.from({ length: settings.get('workers') - 1 }, () => group.start()))
  }
  try {
    await Promise.race([startAll(), draining.begun])
    return {
      port,
      renewTls: group.renew,
      countWorkers: () => group.serving().length,
      readMetrics: async () => (await metrics?.read(group.serving())) ?? [],
      [Symbol.asyncDispose]: () => group.stop(),
    }
  } catch (error) {
    await group.stop()
    throw error
  }
}

/** The same as ours, without passwords: everybody can read them. */
function argumentsFor(settings: SettingValues): string[] {
  const locations = [settings.get('store'), settings.get('tableFrom')]
  return process.argv
    .slice(2)
    .map((word) =>
      locations.reduce(
        (text, location) => (location ? text.replace(location.reveal(), () => location.label) : text),
        word,
      ),
    )
}

interface WorkerEnd {
  readonly status: FailureStatus
  readonly livedMs: number
  /** The exit status, the signal, or why it could not be started. */
  readonly cause: string
  /** A signal ended it: another process, or the system when memory ran out. */
  readonly isKilled: boolean
  /** The message of the worker's own error, if it sent one. */
  readonly failure?: string | undefined
}

function createWorkerGroup(variables: Readonly<Record<string, string>>, settings: SettingValues, log: Log) {
  const drainMs = durationMs(settings.get('drainDelay'))
  const port = new SharedPort(Number(variables[PORT_VARIABLE]))
  const workers = new Map<Worker, Promise<WorkerEnd>>()
  const listening = new WeakSet<Worker>()
  const stopping = new AbortController()
  const { signal } = stopping

  /**
   * Keeps one worker running: replaces it whenever it ends, after a pause. `onFailure`: it failed by itself before one had ever
   * listened, so another would fail too.
   */
  async function keepRunning(onListening: () => void, onFailure: (failure: Failure) => void): Promise<void> {
    let [pauseMs, hasListened] = [FIRST_PAUSE_MS, false]
    while (!signal.aborted) {
      const { status, cause, isKilled, failure, livedMs } = await run(() => {
        hasListened = true
        onListening()
      })
      if (signal.aborted) return
      if (!hasListened && !isKilled)
        return onFailure(new Failure(status, failure ?? `A worker ended (${cause}) before it served.`))
      pauseMs = livedMs > STABLE_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS)
      if (failure !== undefined) log.error(failure)
      log.warn(`A worker ended (${cause}). Starting another one in ${pauseMs / 1000} s.`)
      // The timer keeps this process alive: when all workers have died nothing else does.
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Runs a worker to its end. Never rejects, not even where there is no memory for another process. */
  async function run(onListening: () => void): Promise<WorkerEnd> {
    try {
      const worker = cluster.fork(variables)
      port.handOverTo(worker)
      const ended = endOf(worker)
      workers.set(worker, ended)
      worker.once('listening', () => {
        listening.add(worker)
        onListening()
      })
      const end = await ended.finally(() => workers.delete(worker))
      if (signal.aborted && listening.has(worker) && end.cause !== CLEAN_EXIT)
        log.warn(`A worker ended (${end.cause}) while it was stopping. Requests that it was answering have failed.`)
      return end
    } catch (error) {
      return { status: 3, livedMs: 0, cause: String(error), isKilled: false }
    }
  }

  const serving = (): Worker[] => [...workers.keys()].filter((worker) => listening.has(worker) && worker.isConnected())

  return {
    /** Resolves when a worker listens. Rejects if it cannot. */
    start: (): Promise<void> => new Promise((resolve, reject) => void keepRunning(resolve, reject)),
    serving,
    renew: (): void => {
      for (const worker of serving()) worker.send(RENEW, () => {})
    },
    /** All at once; each answers for the drain delay, and finishes what it has begun. */
    stop: async (): Promise<void> => {
      stopping.abort()
      const stopMs = drainMs + durationMs(settings.get('shutdownTimeout')) + 2 * LATE_MS
      const cutOff = setTimeout(() => {
        for (const worker of workers.keys()) worker.process.kill('SIGKILL')
      }, stopMs)
      for (const worker of workers.keys()) {
        if (listening.has(worker) && worker.isConnected()) worker.send(STOP, () => {})
        else worker.process.kill('SIGKILL')
      }
      // Without `ref: false` this process would wait for the timer after all workers have died.
      await Promise.race([sleep(drainMs, undefined, { ref: false }), Promise.all(workers.values())])
      await port.close(serving())
      for (const worker of workers.keys()) if (worker.isConnected()) worker.send(PORT_CLOSED, () => {})
      await Promise.all(workers.values())
      clearTimeout(cutOff)
    },
  }
}

function endOf(worker: Worker): Promise<WorkerEnd> {
  const startedAt = performance.now()
  let failure: string | undefined
  worker.on('message', (message: unknown) => {
    if (message instanceof Object && 'failure' in message) failure = String(message.failure)
  })
  return new Promise((resolve) => {
    const end = (status: FailureStatus, cause: string, isKilled = false) =>
      resolve({ status, cause, isKilled, failure, livedMs: performance.now() - startedAt })
    worker.once('exit', (status: number | null, signal: string | null) =>
      end(status === 1 || status === 2 ? status : 3, signal ?? `status ${status}`, signal !== null),
    )
    // A process that could not be started has no exit. Any other error is of a message to a worker that is about to end.
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) end(3, error.message)
    })
  })
}
