/** Servers on real sockets for tests of the checker: right ones that turn bad for some requests, and raw ones. */

import assert from 'node:assert/strict'
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { Report, RuleReport } from '../../src/check/index.ts'
import { askedOf, CorrectServer, type ServerOptions } from './correct-server.ts'

export interface Listening {
  readonly origin: string
  /** Of the collection. */
  readonly url: string
  /** Every request that came: method, path, query and headers. */
  readonly seen: IncomingMessage[]
  readonly server: Server
}

/** Answers one request; `answerRight` answers as the correct server would. `number` counts requests from 1. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  answerRight: () => void,
  number: number,
) => void

/** A correct server, except where the handler answers otherwise. */
export async function serve(
  t: TestContext,
  handler: Handler,
  serves: ServerOptions | CorrectServer = {},
): Promise<Listening> {
  const right = serves instanceof CorrectServer ? serves : new CorrectServer({ items: 501, ...serves })
  const seen: IncomingMessage[] = []
  const server = createHttpServer((request, response) => {
    request.resume()
    response.on('error', () => {})
    const asked = askedOf(request)
    handler(request, response, () => right.send(right.answer(asked), asked, response), seen.push(request))
  })
  const origin = await listenOn(t, server)
  right.baseUrl = origin
  return { origin, url: `${origin}/${right.name}`, seen, server }
}

/** Every request gets these bytes, and nothing else: they may be no HTTP at all. */
export async function serveRaw(t: TestContext, answer: (socket: Socket, head: string) => void): Promise<string> {
  const server = createRawServer((socket) => {
    let head = ''
    socket.on('error', () => {})
    socket.on('data', (data) => {
      head += data.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      answer(socket, head.slice(0, end))
      head = head.slice(end + 4)
    })
  })
  return `${await listenOn(t, server)}/events`
}

/** Answers its address; the server and its connections end with the test. */
export async function listenOn(t: TestContext, server: RawServer): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A port on which nobody listens. */
export async function unusedOrigin(): Promise<string> {
  const server = createRawServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

export function ruleOf({ rules }: Report, id: string): RuleReport {
  const rule = rules.find((each) => each.id === id)
  assert.ok(rule !== undefined, `the report has no ${id}`)
  return rule
}

export function idsWith({ rules }: Report, status: RuleReport['status']): string[] {
  return rules.filter((rule) => rule.status === status).map(({ id }) => id)
}

export function notesOf({ collections }: Report): string {
  return collections.flatMap(({ notes }) => notes).join('\n')
}

/** What a report shows of its verdict, for the message of a failed assertion. */
export function outline(report: Report): string {
  const rules = report.rules.filter(({ status, judged }) => status === 'fail' || status === 'warn' || !judged)
  const lines = rules.map(({ id, status, detail, request }) => `${id} ${status}: ${detail} [${request}]`)
  return [report.verdict, notesOf(report), ...lines].join('\n')
}

/** What holds for every report, whatever the server did. */
export function assertSound(report: Report, requests = 60): void {
  const text = JSON.stringify(report)
  assert.ok(text.length < 1_000_000, `the report has ${text.length} characters`)
  for (const each of textsIn(report))
    assert.doesNotMatch(each, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u, JSON.stringify(each.slice(0, 300)))
  for (const { requests: sent } of report.collections) assert.ok(sent <= requests, `${sent} requests`)
  for (const { id, status, detail, judged } of report.rules) {
    if (status === 'fail' || status === 'skip') assert.notEqual(detail, '', `${id} ${status} without a word`)
    if (!judged) assert.equal(status, 'skip', id)
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)])
}
