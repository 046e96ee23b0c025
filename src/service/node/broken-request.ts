/** Replies to requests that break off or cannot be parsed, straight to their sockets. */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ProblemName } from '../../contract/problem.ts'
import { LINGER_MS, MAX_HEADER_BYTES } from '../limits.ts'
import { problemReply } from '../problem-reply.ts'

export type Flaw = readonly [problem: ProblemName, detail: string]

/** What is wrong with a request whose head cannot be read, by the code of Node's error. */
export function headFlaw(code: string | undefined): Flaw {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return ['header-too-large', `The request line and headers are larger than ${MAX_HEADER_BYTES} bytes.`]
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['request-timeout', 'The head of the request was not complete in time.']
    case 'CONNECT':
      return ['malformed-request', 'CONNECT asks for a proxy, and this is none.']
    default:
      return ['malformed-request', 'The bytes that came are not an HTTP/1.1 request.']
  }
}

/** The same, where the head is right and the body is not. */
export function bodyFlaw(code: string | undefined): Flaw {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['request-timeout', 'The body of the request was not complete in time.']
    case 'HPE_INVALID_EOF_STATE':
      return ['invalid-body', 'The body breaks off.']
    default:
      return ['malformed-request', 'The body is not sent as HTTP/1.1 defines it.']
  }
}

/** Answers with a problem, and closes the connection. */
export function refuse(socket: Socket, baseUrl: string, [problem, detail]: Flaw): void {
  if (!socket.writable) return
  const { status, headers, body } = problemReply(baseUrl, problem, detail)
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', String(body)].join('\r\n'))
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
