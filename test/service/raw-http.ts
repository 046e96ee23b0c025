/** HTTP by hand, for requests that no client would send. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Listening, type ListenOptions, listen } from '../../src/service/node/listen.ts'

export interface RawAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** A server that is gone when the test is over. */
export async function listenFor(t: TestContext, options: ListenOptions): Promise<Listening> {
  const listening = await listen({ port: 0, ...options })
  t.after(() => listening.close(0))
  return listening
}

export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/**
 * Resolves when a closing server has closed its port. Connections that waited when it began to close are accepted first, and one
 * that arrives at that moment is reset.
 */
export async function refusesConnections(port: number): Promise<void> {
  for (let failure: unknown; failure !== 'ECONNREFUSED'; await sleep(10))
    failure = await openSocket(port).then(
      (socket) => void socket.destroy(),
      ({ code }) => code,
    )
}

export async function readToEnd(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** All answers that come until the server closes the connection. */
export async function answersOn(socket: Socket): Promise<RawAnswer[]> {
  return parseAnswers(await readToEnd(socket))
}

/** The statuses of these answers. */
export function statusesOf(answers: readonly RawAnswer[]): number[] {
  return answers.map(({ status }) => status)
}

/** Sends a request and reads all answers that come until the server closes the connection. */
export async function answersTo(
  port: number,
  request: string | Buffer,
  { isHalfClosed = false, isHead = false } = {},
): Promise<RawAnswer[]> {
  const socket = await openSocket(port)
  if (isHalfClosed) socket.end(request)
  else socket.write(request)
  return parseAnswers(await readToEnd(socket), isHead)
}

/** The answers in a row that lie in these bytes. `isHead`: their bodies were not sent. */
export function parseAnswers(bytes: Buffer, isHead = false): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const headEnd = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n')
    const headers = new Map(
      lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.replace(/^[^:]*: */, '')]),
    )
    const bodyEnd = headEnd + 4 + (isHead ? 0 : Number(headers.get('content-length') ?? 0))
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body: rest.subarray(headEnd + 4, bodyEnd) })
    rest = rest.subarray(bodyEnd)
  }
  return answers
}

/** One request, one answer. The request must ask to close the connection, or be one after which the server does. */
export async function askRaw(port: number, request: string): Promise<RawAnswer> {
  const answers = await answersTo(port, request, { isHead: request.startsWith('HEAD ') })
  const [answer] = answers
  if (answer === undefined || answers.length > 1)
    throw new Error(`${answers.length} answers to ${request.slice(0, 100)}`)
  return answer
}
