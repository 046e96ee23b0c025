/** The log of `serve`, on stderr: a line for every request, and for what goes wrong. */

import { pino } from 'pino'
import type { OnError, RequestRecord } from '../../../service/request-record.ts'
import type { SettingValues } from '../../setting-values.ts'
import { LineWriter } from './line-writer.ts'
import { readableLine } from './log-line.ts'
import { createRedactor } from './secrets.ts'

export interface Log extends AsyncDisposable {
  /** Undefined where no request is logged. */
  readonly onRequestEnd: ((record: RequestRecord) => void) | undefined
  readonly onError: OnError
  readonly info: (message: string) => void
  readonly warn: (message: string) => void
  readonly error: (message: string) => void
}

const STDERR = 2

const SLOW_MS = 1_000

/** Longer texts are cut, so that a line is written in one piece, with no line of another worker in it. */
const MAX_TEXT = 500
const MAX_STACK = 1_500

/** `isQuick`: files or the sample, served for a look; a store is served for longer. */
export function openLog(settings: SettingValues, isQuick: boolean): Log {
  const destination: Destination = process.stderr.isTTY ? terminal() : new LineWriter(STDERR)
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
    error: (message) => logger.error(text(message)),
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
    token: record.tokenName && text(record.tokenName),
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
