/** Clients that come whether or not the server keeps up: run as `arrival-load.ts PLAN`, prints the result. */

import type { ArrivalPlan, ArrivalResult } from './arrivals.ts'
import { KeepAliveConnection } from './keep-alive-connection.ts'
import { mean, percentile } from './measure.ts'
import { readRequests } from './read-requests.ts'

/** One in so many opens a connection for its request alone; the others share connections that stay open. */
const NEWCOMER_EVERY = 4
const PATIENCE_MS = 5_000
const TICK_MS = 1

const { url, pages, durationMs, mostWaiting, requestsASecond }: ArrivalPlan = JSON.parse(process.argv[2] ?? '{}')
const requests = readRequests({ kind: 'read', url, pages })
const requestsOfNewcomers = readRequests({ kind: 'read', url, pages, isClosing: true })
const idle = new Set<KeepAliveConnection>()
/** With the time at which each was sent its request, the oldest first. */
const waiting = new Map<KeepAliveConnection, number>()
const waitedMs: number[][] = [[], [], [], []]
const counts = { turnedAway: 0, cutOff: 0, refused: 0, gaveUp: 0 }
let arrived = 0

const startedAt = performance.now()
const ticks = setInterval(arriveAll, TICK_MS)
setTimeout(stop, durationMs)

/** All that are due. */
function arriveAll(): void {
  const elapsedMs = performance.now() - startedAt
  const due =
    requestsASecond === undefined
      ? mostWaiting - waiting.size
      : Math.floor((elapsedMs / 1000) * requestsASecond) - arrived
  for (let count = 0; count < due; count++) arrive()
  for (const [connection, sentAt] of waiting) {
    if (performance.now() - sentAt < PATIENCE_MS) break
    counts.gaveUp++
    waiting.delete(connection)
    connection.end()
  }
}

function arrive(): void {
  arrived++
  if (waiting.size >= mostWaiting) {
    counts.turnedAway++
    return
  }
  const isNewcomer = arrived % NEWCOMER_EVERY === 0
  const [kept] = isNewcomer ? [] : idle
  const connection = kept ?? connect(isNewcomer)
  idle.delete(connection)
  waiting.set(connection, performance.now())
  connection.send((isNewcomer ? requestsOfNewcomers : requests).next().value.head)
}

function connect(isNewcomer: boolean): KeepAliveConnection {
  const connection = new KeepAliveConnection(
    url,
    (status) => {
      answered(status, waiting.get(connection) ?? 0)
      waiting.delete(connection)
      if (isNewcomer) connection.end()
      else idle.add(connection)
      if (requestsASecond === undefined) arriveAll()
    },
    () => {
      idle.delete(connection)
      if (waiting.delete(connection)) counts.cutOff++
    },
  )
  return connection
}

function answered(status: number, sentAt: number): void {
  const now = performance.now()
  if (status === 200) waitedMs[Math.floor(((now - startedAt) / durationMs) * 4)]?.push(now - sentAt)
  else counts.refused++
}

function stop(): void {
  clearInterval(ticks)
  const [, second = [], third = [], last = []] = waitedMs
  const answers = [second, third, last].flat()
  const unanswered = Array<number>(counts.cutOff + counts.refused + counts.gaveUp).fill(PATIENCE_MS)
  const { user, system } = process.cpuUsage()
  const result: ArrivalResult = {
    answersASecond: answers.length / ((durationMs / 1000) * 0.75),
    secondQuarterMs: mean(orUnanswered(second)),
    lastQuarterMs: mean(orUnanswered(last)),
    p99Ms: percentile(orUnanswered([...answers, ...unanswered]), 99),
    ...counts,
    cores: (user + system) / 1000 / durationMs,
  }
  console.log(JSON.stringify(result))
  process.exit()
}

/** Where nobody was answered at all, everybody waited. */
function orUnanswered(waitedMs: readonly number[]): readonly number[] {
  return waitedMs.length > 0 ? waitedMs : [PATIENCE_MS]
}
