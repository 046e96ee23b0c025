/** Replies to requests that break off or cannot be parsed, straight to their sockets. */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ProblemName } from '../../contract/problem.ts'
import { LINGER_MS, MAX_HEADER_BYTES } from '../limits.ts'
import { problemReply } from '../problem-reply.ts'

export type Flaw = readonly [problem: ProblemName, detail: string]

/** What is wrong with the head of a request, by the code of Node's error. */
const HEAD_FLAWS = new Map<string | undefined, Flaw>([
  [
    'HPE_HEADER_OVERFLOW',
    ['header-too-large', `The request line and headers are larger than ${MAX_HEADER_BYTES} bytes.`],
  ],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request-timeout', 'The head of the request was not complete in time.']],
  ['CONNECT', ['malformed-request', 'CONNECT is for proxies, and this is not one.']],
])

/** The same for its body. */
const BODY_FLAWS = new Map<string | undefined, Flaw>([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request-timeout', 'The body of the request was not complete in time.']],
  ['HPE_INVALID_EOF_STATE', ['invalid-body', 'The body is truncated.']],
])

export function flawOf(code: string | undefined, isInBody: boolean): Flaw {
  if (isInBody) return BODY_FLAWS.get(code) ?? ['malformed-request', 'The body is not valid HTTP/1.1.']
  return HEAD_FLAWS.get(code) ?? ['malformed-request', 'This is not an HTTP/1.1 request.']
}

/** Answers with a problem, and closes the connection. */
export function refuse(socket: Socket, baseUrl: string, [problem, detail]: Flaw): void {
  if (!socket.writable) return
  const { status, headers, body } = problemReply(baseUrl, problem, detail)
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', String(body)].join('\r\n'))
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
