/** Why a pull failed, in words for who called the program. */

import {
  ClientError,
  ConnectionLost,
  ForbiddenOrigin,
  HttpError,
  InvalidPage,
  TimeoutError,
} from '../../client/index.ts'
import { hideSecret } from '../../contract/message-text.ts'
import { Failure, type FailureStatus, isSystemError } from '../failure.ts'

/** What the options of the client are called here. */
const FLAGS: Readonly<Record<string, string>> = {
  allowedOrigins: '--allow-origin',
  timeoutMs: '--timeout',
  pageBytes: '--answer-bytes',
}

/** The end of a pull before its time, and what is left of it. */
export class PullStopped extends Error {
  override readonly name = 'PullStopped'
  /** Says what is kept, and how to go on; empty if there is nothing to say. */
  readonly standing: string

  constructor(cause: unknown, standing: string) {
    super('the pull was stopped', { cause })
    this.standing = standing
  }
}

export interface FailureContext {
  /** Says what is kept of the pull. */
  readonly standing: string
  /** Keeps it out of the message: a server can repeat it in what it answers. */
  readonly token: string | undefined
  /** What was being written to; undefined: standard output. */
  readonly path: string | undefined
}

export function explainPull(error: unknown, { standing, token, path = 'Standard output' }: FailureContext): unknown {
  const known = explained(error, path)
  if (known === undefined) return error
  return new Failure(known.exitStatus, hideSecret(joined(known.message, standing), token), { cause: error })
}

function explained(error: unknown, path: string): Pick<Failure, 'exitStatus' | 'message'> | undefined {
  if (error instanceof Failure) return error
  if (isSystemError(error)) return { exitStatus: 3, message: systemText(error, path) }
  if (!(error instanceof ClientError)) return undefined
  const message = error.message.replace(/(?<=\boption )\w+/, (name) => FLAGS[name] ?? name)
  return { exitStatus: statusOf(error), message: joined(withStop(message), adviceOn(error)) }
}

function statusOf(error: ClientError): FailureStatus {
  if (error instanceof ConnectionLost || error instanceof TimeoutError) return 3
  if (!(error instanceof HttpError)) return 1
  if ([401, 403, 404].includes(error.status)) return 2
  return error.status >= 500 || error.status === 429 ? 3 : 1
}

/** What helps at the command line, besides the hint of the server. */
function adviceOn(error: ClientError): string {
  if (error instanceof InvalidPage) return '"reams check" says more about what a server does wrong.'
  if (error instanceof ForbiddenOrigin) return 'The token, if there is one, is not sent there.'
  if (!(error instanceof HttpError)) return ''
  if (error.status === 404) return 'Check the URL. A private collection is found only with a token for it.'
  return error.status === 401 ? 'A token comes from --token-file or REAMS_TOKEN.' : ''
}

function systemText({ code = '', message }: NodeJS.ErrnoException, path: string): string {
  return `${path} cannot be written: ${REASONS[code] ?? message}.`
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EFBIG: 'it would be larger than files can be here',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
}

function withStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function joined(...sentences: string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ')
}
