/** Why a pull or a push failed, in words for the command line. */

import { isUntrusted } from '../check/http/socket-fetch.ts'
import {
  ClientError,
  CollectionChanged,
  ConnectionLost,
  ForbiddenOrigin,
  HttpError,
  InvalidPage,
  type Retry,
  TimeoutError,
} from '../client/index.ts'
import { Failure, type FailureStatus } from './failure.ts'
import { formatDuration } from './output.ts'

/** What the options of the client are called here. */
const FLAGS: Readonly<Record<string, string>> = {
  allowedOrigins: '--allow-origin',
  timeoutMs: '--timeout',
  pageBytes: '--answer-bytes',
}

/** Undefined for an error that nobody expected. */
export function explainFailure(error: unknown): Pick<Failure, 'exitStatus' | 'message'> | undefined {
  if (error instanceof Failure) return error
  if (!(error instanceof ClientError)) return undefined
  const message = error.message.replace(/(?<=\boption )\w+/, (name) => FLAGS[name] ?? name)
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`
  return { exitStatus: statusOf(error), message: `${sentence} ${adviceOn(error)}`.trimEnd() }
}

/** What is said before a request is sent again. */
export function retryText({ error, delayMs, retry }: Retry, verb: string): string {
  const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
  return `${reason}; ${verb} again in ${formatDuration(delayMs)} (retry ${retry}).`
}

function statusOf(error: ClientError): FailureStatus {
  if (error instanceof ConnectionLost || error instanceof TimeoutError) return 3
  if (!(error instanceof HttpError)) return 1
  const { status } = error
  if ([401, 403, 404].includes(status) || isNoWriteAnswer(error)) return 2
  return status >= 500 || status === 408 || status === 429 ? 3 : 1
}

/** What helps at the command line, besides the hint of the server. */
function adviceOn(error: ClientError): string {
  if (error instanceof InvalidPage) return '"reams check" shows what a server does wrong, and what is ambiguous.'
  if (error instanceof ForbiddenOrigin) return 'The token, if there is one, is not sent there.'
  // Only one of a snapshot comes from an answer.
  if (error instanceof CollectionChanged && error.status !== undefined) return '--no-snapshot reads it without one.'
  if (error instanceof ConnectionLost && isUntrusted(error.cause))
    return 'To trust that authority, give its certificate: --ca FILE.'
  if (error instanceof ConnectionLost) return 'Check the URL, and that the server is running.'
  if (!(error instanceof HttpError)) return ''
  if (error.status === 404 && error.method === 'POST') return 'Check the URL, or create the collection with --create.'
  if (error.status === 404) return 'Check the URL. A private collection is found only with a token for it.'
  if (error.status === 413) return 'A smaller --batch sends less at a time.'
  if (isNoWriteAnswer(error)) return 'Check the URL: this does not look like a Reams server.'
  return error.status === 401 ? 'A token comes from --token-file or REAMS_TOKEN.' : ''
}

/** Whether a server answers a write as none with this contract does: by a redirect, or by another success than 201. */
function isNoWriteAnswer({ method, status }: HttpError): boolean {
  return method !== 'GET' && status < 400
}
