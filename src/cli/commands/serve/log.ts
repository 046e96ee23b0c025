/** The log of `serve`, on stderr: a line for every request, and for what goes wrong. */

import { fstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { OnError, RequestRecord } from '../../../service/request-record.ts'
import type { SettingValues } from '../../setting-values.ts'
import { readableLine } from './log-line.ts'
import { createRedactor } from './secrets.ts'

export interface Log extends AsyncDisposable {
  /** Undefined where no request is logged. */
  readonly onRequestEnd: ((record: RequestRecord) => void) | undefined
  readonly onError: OnError
  readonly info: (message: string) => void
  readonly warn: (message: string) => void
}

const STDERR = 2

const SLOW_MS = 1_000

/** A write of more to a pipe can be cut in two, with a line of another worker between (PIPE_BUF). */
const ATOMIC_BYTES = 4_096
const FILE_WRITE_BYTES = 64 * 1024
/** What nobody reads is dropped beyond this. */
const MAX_UNWRITTEN_BYTES = 8 * 1024 * 1024
/** A crash loses what was logged since. */
const FLUSH_MS = 100
/** How long the end waits for a reader that does not read. */
const LAST_FLUSH_MS = 1_000

/** Longer texts are cut, so that a line is shorter than ATOMIC_BYTES even where every character has to be escaped. */
const MAX_TEXT = 500
const MAX_STACK = 1_500

/** `isQuick`: files or the sample, served for a look; a store is served for longer. */
export function openLog(settings: SettingValues, isQuick: boolean): Log {
  const destination = process.stderr.isTTY ? terminal() : buffered()
  const level = settings.get('logLevel')
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  const redact = createRedactor(settings)
  const text = (value: string, length = MAX_TEXT) => {
    const shown = redact(value)
    return shown.length > length ? `${shown.slice(0, length)}…` : shown
  }
  const isLogged = REQUESTS_LOGGED[settings.get('logRequests') ?? (isQuick ? 'errors' : 'all')]
  return {
    onRequestEnd:
      isLogged &&
      ((record) => {
        if (isLogged(record)) logger[record.status >= 500 ? 'error' : 'info'](requestLine(record, text), 'request')
      }),
    onError: (error, { method, target }, requestId) => {
      const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error))
      const [path = ''] = target.split(/[?#]/, 1)
      const where = logger.isLevelEnabled('debug') && { stack: text(stack, MAX_STACK) }
      const request = { method, path: text(path), request_id: text(requestId) }
      logger.error({ ...request, error: name, ...where }, text(message))
    },
    info: (message) => logger.info(text(message)),
    warn: (message) => logger.warn(text(message)),
    [Symbol.asyncDispose]: () => destination.end(),
  }
}

/** Made once a millisecond: it takes as long as half of a line. */
function createTimestamp(): () => string {
  let [now, text] = [0, '']
  return () => {
    if (now !== Date.now()) {
      now = Date.now()
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}

const isError = ({ status }: RequestRecord) => status >= 400

const REQUESTS_LOGGED = {
  all: () => true,
  slow: (record: RequestRecord) => record.durationMs > SLOW_MS || isError(record),
  errors: isError,
  none: undefined,
} as const

/** In the words of the API. Without the query, without headers: either can hold what must not be in a log. */
function requestLine(record: RequestRecord, text: (value: string) => string) {
  return {
    method: record.method,
    path: text(record.path),
    status: record.status,
    duration_ms: Math.round(record.durationMs * 1_000) / 1_000,
    bytes: record.bytes,
    route: record.route,
    collection: record.collection && text(record.collection),
    page: record.page,
    cache: record.cache,
    token: record.tokenName,
    aborted: record.isAborted,
    request_id: text(record.requestId),
    remote_address: record.remoteAddress,
  }
}

interface Destination extends pino.DestinationStream {
  end(): Promise<void>
}

function terminal(): Destination {
  return {
    write: (line) => void process.stderr.write(`${readableLine(line)}\n`),
    end: async () => {},
  }
}

/**
 * Many lines in one write, which does not hold up the event loop. They are joined here: sonic-boom would measure all that it
 * has with every line. At an exit pino calls `flushSync`.
 */
function buffered(): Destination {
  const maxWrite = fstatSync(STDERR).isFile() ? FILE_WRITE_BYTES : ATOMIC_BYTES
  let isEnding = false
  let lines = ''
  let bytes = 0
  const stream = pino.destination({
    fd: STDERR,
    sync: false,
    maxWrite,
    maxLength: MAX_UNWRITTEN_BYTES,
    // A pipe that is full: whoever ends does not wait for its reader.
    retryEAGAIN: () => !isEnding,
  })
  // A disk that is full, for instance: to serve is more important.
  stream.on('error', () => {})
  const handOver = (): void => {
    if (lines !== '') stream.write(lines)
    lines = ''
    bytes = 0
  }
  const flushSync = stream.flushSync.bind(stream)
  stream.flushSync = () => {
    isEnding = true
    try {
      handOver()
      flushSync()
    } catch {
      // Nobody reads.
    }
  }
  const timer = setInterval(handOver, FLUSH_MS).unref()
  return {
    write(line) {
      const length = Buffer.byteLength(line)
      if (bytes + length > maxWrite) handOver()
      lines += line
      bytes += length
    },
    async end() {
      clearInterval(timer)
      handOver()
      const written = new Promise<void>((resolve) => stream.flush(() => resolve()))
      await Promise.race([written, sleep(LAST_FLUSH_MS, undefined, { ref: false })])
      isEnding = true
    },
  }
}
