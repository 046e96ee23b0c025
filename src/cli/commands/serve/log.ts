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
  const loggerOf = createLoggers(logger, text)
  return {
    onRequestEnd:
      isLogged &&
      ((record) => {
        if (!isLogged(record)) return
        const { page, durationMs, bytes, isAborted, requestId, remoteAddress } = record
        const own = {
          page,
          duration_ms: Math.round(durationMs * 1_000) / 1_000,
          bytes,
          aborted: isAborted,
          request_id: text(requestId),
          remote_address: remoteAddress,
        }
        const kept = loggerOf(record)
        if (kept !== undefined) kept.info(own, 'request')
        else logger[record.status >= 500 ? 'error' : 'info']({ ...sharedFields(record, text), ...own }, 'request')
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

/** What a request shares with others, in the words of the API. Without query and headers, which can hold what must not be in a log. */
function sharedFields(record: RequestRecord, text: (value: string) => string) {
  const { method, path, status, route, collection, cache, tokenName } = record
  const token = tokenName && text(tokenName)
  return { method, path: text(path), status, route, collection: collection && text(collection), cache, token }
}

/** Loggers that are kept, for pages of collections: pino then puts what many requests share into JSON once. */
const MAX_LOGGERS = 500

/** The logger for a request, if it shares its fields with many. */
function createLoggers(logger: pino.Logger, text: (value: string) => string) {
  const known = new Map<string, pino.Logger>()
  return (record: RequestRecord): pino.Logger | undefined => {
    const { method, path, status, route, cache, tokenName } = record
    // Nobody can make up many of these: there are as many as collections and tokens.
    if (status >= 400 || route !== '/:collection') return undefined
    const key = `${method} ${status} ${cache} ${tokenName} ${path}`
    const found = known.get(key)
    if (found !== undefined || known.size === MAX_LOGGERS) return found
    const made = logger.child(sharedFields(record, text))
    known.set(key, made)
    return made
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
