/** Many clients at once, as a process of its own: run as `load.ts PLAN`, and told to stop by SIGTERM. */

import { KeepAliveConnection } from './keep-alive-connection.ts'
import { readRequests } from './read-requests.ts'
import type { LoadPlan, LoadResult } from './running-load.ts'
import { type WriteRequest, writeRequests } from './write-requests.ts'

const plan: LoadPlan = JSON.parse(process.argv[2] ?? '{}')
const { connections, warmUp, requests: counted = Number.POSITIVE_INFINITY } = plan
const requests = plan.kind === 'read' ? readRequests(plan) : writeRequests(plan)
let answered = 0
let startedAt: number | undefined
let endedAt: number | undefined

process.once('SIGTERM', stop)
const first = Array.from({ length: connections }, () => requests.next().value).filter(
  (request) => request !== undefined,
)
let open = first.length
if (warmUp === 0) begin()
for (const request of first) send(new KeepAliveConnection(plan.url, onAnswer), request)

function onAnswer(status: number, connection: KeepAliveConnection): void {
  if (status < 200 || status > 299) throw new Error(`A request was answered ${status}.`)
  answered++
  if (answered === warmUp) begin()
  if (answered === warmUp + counted) stop()
  const next = endedAt === undefined ? requests.next().value : undefined
  if (next === undefined) end(connection)
  else send(connection, next)
}

function send(connection: KeepAliveConnection, { head, body }: WriteRequest): void {
  connection.send(head, body)
}

/** The last one ends the load, if nothing has before. */
function end(connection: KeepAliveConnection): void {
  connection.end()
  if (--open === 0) stop()
}

function begin(): void {
  startedAt = performance.now()
  console.log('begun')
}

/** Whoever waits for an answer still gets it, but it does not count. */
function stop(): void {
  if (endedAt !== undefined) return
  endedAt = performance.now()
  if (startedAt === undefined)
    throw new Error(`There were ${answered} answers, and ${warmUp} come before the clock starts.`)
  const result: LoadResult = { requests: answered - warmUp, durationMs: endedAt - startedAt }
  console.log(JSON.stringify(result))
}
