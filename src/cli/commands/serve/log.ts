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
export function openLog(settings: SettingValues, isQuick: boolean, descriptor = STDERR): Log {
  const destination: Destination =
    process.stderr.isTTY && descriptor === STDERR ? terminal() : new LineWriter(descriptor)
  const timestamp = createTimestamp()
  const logger = createPino(settings, destination, timestamp)
  const redact = createRedactor(settings)
  const text = (value: string, length = MAX_TEXT) => {
    const shown = redact(value)
    return shown.length > length ? `${shown.slice(0, length)}…` : shown
  }
  const isLogged = REQUESTS_LOGGED[settings.get('logRequests') ?? (isQuick ? 'errors' : 'all')]
  const isInfo = logger.isLevelEnabled('info')
  const beginningOf = createBeginnings(settings, text)
  return {
    onRequestEnd:
      isLogged &&
      ((record) => {
        if (!isLogged(record) || (!isInfo && record.status < 500)) return
        const beginning = isInfo ? beginningOf(record) : undefined
        if (beginning !== undefined) destination.write(LEVEL + timestamp() + beginning + ownText(record, text))
        else
          logger[record.status >= 500 ? 'error' : 'info'](
            { ...sharedFields(record, text), ...ownFields(record, text) },
            'request',
          )
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

function createPino(
  settings: SettingValues,
  destination: pino.DestinationStream,
  timestamp: () => string,
): pino.Logger {
  const formatters = { level: (label: string) => ({ level: label }) }
  const options = { level: settings.get('logLevel'), base: { pid: process.pid }, timestamp, formatters }
  return pino(options, destination)
}

/** A text as it may stand in the log: without secrets, and not too long. */
type ShowText = (value: string) => string

/** Made once a millisecond: it takes about as long as the rest of a line. */
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
  slow: (record: RequestRecord) => record.durationMs - (record.waitedMs ?? 0) > SLOW_MS || isError(record),
  errors: isError,
  none: undefined,
} as const

/** What a request shares with others, in the words of the API. Without query and headers, which can hold what must not be in a log. */
function sharedFields(record: RequestRecord, text: ShowText) {
  const { method, path, status, route, collection, cache, tokenName } = record
  const token = tokenName && text(tokenName)
  return { method, path: text(path), status, route, collection: collection && text(collection), cache, token }
}

function ownFields(record: RequestRecord, text: ShowText) {
  const { page, durationMs, waitedMs, bytes, isAborted, requestId, remoteAddress } = record
  const waited_ms = waitedMs && rounded(waitedMs)
  const own = { page, duration_ms: rounded(durationMs), waited_ms, bytes, aborted: isAborted }
  return { ...own, request_id: text(requestId), remote_address: remoteAddress }
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

/** What pino begins a line with, before the time. */
const LEVEL = '{"level":"info"'
const MESSAGE = ',"msg":"request"}\n'

/** The same at the end of a line, in JSON. None of its texts needs an escape. */
function ownText(
  { page, durationMs, waitedMs, bytes, isAborted, requestId, remoteAddress }: RequestRecord,
  text: ShowText,
): string {
  const paged = page === undefined ? '' : `,"page":${page}`
  const waited = waitedMs === undefined ? '' : `,"waited_ms":${rounded(waitedMs)}`
  const aborted = isAborted ? ',"aborted":true' : ''
  const from = `,"request_id":"${text(requestId)}","remote_address":"${remoteAddress}"`
  return `${paged},"duration_ms":${rounded(durationMs)}${waited},"bytes":${bytes}${aborted}${from}${MESSAGE}`
}

/** Beginnings that are kept. */
const MAX_BEGINNINGS = 500

/**
 * What many lines about pages of collections have in common, between the time and what is their own: pino makes it once. To make all
 * of a line takes it three times as long as to join these.
 */
function createBeginnings(settings: SettingValues, text: ShowText) {
  const known = new Map<string, string>()
  let made = ''
  const maker = createPino(settings, { write: (line) => (made = line) }, () => '')
  return (record: RequestRecord): string | undefined => {
    const { method, path, status, route, cache, tokenName } = record
    // Nobody can make up many of these: there are as many as collections and tokens.
    if (status >= 400 || route !== '/:collection') return undefined
    const key = `${method} ${status} ${cache} ${tokenName} ${path}`
    const found = known.get(key)
    if (found !== undefined || known.size === MAX_BEGINNINGS) return found
    maker.info(sharedFields(record, text), 'request')
    const beginning = made.slice(LEVEL.length, -MESSAGE.length)
    known.set(key, beginning)
    return beginning
  }
}

interface Destination extends pino.DestinationStream {
  end(): Promise<void>
}

function terminal(): Destination {
  return {
    // In the place of a line that shows how far something is, which is then drawn again below.
    write: (line) => void process.stderr.write(`\r\u001b[K${readableLine(line)}\n`),
    end: async () => {},
  }
}
