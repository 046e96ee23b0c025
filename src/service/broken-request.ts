/** Answers to requests that break off or cannot be parsed, straight to their sockets. */

import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { PROBLEMS, type ProblemName } from '../contract/problem.ts'
import { problemBody, problemHeaders } from './problem-response.ts'

/** The request line and all headers, as the problem header-too-large says. */
export const HEADER_BYTES = 16 * 1024
/** How long a refused client may still send: closing before it is done would take the answer away from it. */
const LINGER_MS = 1_000

/** What is wrong, by the code of Node's error. */
const FLAWS: ReadonlyMap<string | undefined, readonly [ProblemName, string]> = new Map([
  ['HPE_HEADER_OVERFLOW', ['header-too-large', `The request line and headers are larger than ${HEADER_BYTES} bytes.`]],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request-timeout', 'The head of the request was not complete in time.']],
  ['CONNECT', ['malformed-request', 'CONNECT asks for a proxy, and this is none.']],
])
const OTHER_FLAW = ['malformed-request', 'The bytes that came are not an HTTP/1.1 request.'] as const

/** The same, where the head is right and the body is not. */
const BODY_FLAWS: ReadonlyMap<string | undefined, readonly [ProblemName, string]> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request-timeout', 'The body of the request was not complete in time.']],
  ['HPE_INVALID_EOF_STATE', ['invalid-body', 'The body breaks off.']],
])
const OTHER_BODY_FLAW = ['malformed-request', 'The body is not sent as HTTP/1.1 defines it.'] as const

/** Answers a request whose head cannot be read. */
export function refuse(socket: Socket, baseUrl: string, code: string | undefined): void {
  end(socket, baseUrl, FLAWS.get(code) ?? OTHER_FLAW)
}

/** Ends a request whose body will never be whole: whoever reads it would wait for ever, and never answer. */
export function refuseBody(answer: ServerResponse, socket: Socket, baseUrl: string, code: string | undefined): void {
  const endNow = () => end(socket, baseUrl, BODY_FLAWS.get(code) ?? OTHER_BODY_FLAW)
  if (answer.headersSent) socket.destroySoon()
  else if (answer.socket === socket) endNow()
  // Answers to requests before this one are still under way; it has no socket before it is its turn.
  else answer.once('socket', endNow)
}

function end(socket: Socket, baseUrl: string, [name, detail]: readonly [ProblemName, string]): void {
  if (!socket.writable) return
  const { status } = PROBLEMS[name]
  const body = problemBody(baseUrl, name, detail)
  const headers = Object.entries({ ...problemHeaders(body), Connection: 'close' }).map(
    ([key, value]) => `${key}: ${value}`,
  )
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers, '', body.toString()].join('\r\n'))
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
