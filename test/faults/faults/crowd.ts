/** Many more clients than a service has connections to PostgreSQL, which stands still for a while. */

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration } from '../../../src/cli/output.ts'
import type { StoreServer, Trial } from '../fault.ts'
import type { Findings } from '../report.ts'
import { StoreUnderTest } from '../store-under-test.ts'

const CROWD = { writers: 250, keylessWriters: 50, readers: 200, isSteady: true } as const

/** How long nothing can be read or written: longer than anybody waits for a connection. */
const STANDSTILL_MS = 6_000
const AROUND_MS = 1_000

/**
 * The limits that a write meets one after the other: 5 s for a connection to look at the token, and at the head, 10 s for
 * the commits before it, then 5 s for a connection and 5 s for a lock. Only where the processor is taken they add up.
 */
const MAX_ANSWER_MS = 30_000

const MAX_MEMORY_MB = 512

const REQUESTS_AFTERWARDS = 20

export async function crowdIn({ rounds, random, report, postgres, beginRound }: Trial): Promise<void> {
  const { findings } = report
  const cluster = await postgres()
  const most = { refused: 0, ms: 0, megabytes: 0 }
  for (let done = 0; done < rounds; done++) {
    const schema = cluster.newSchema()
    await using subject = await StoreUnderTest.create({ location: cluster.storeIn(schema) }, report, random)
    beginRound()
    const workload = subject.work(CROWD)
    workload.tolerated = [503]
    await sleep(AROUND_MS)
    await standStill(cluster, schema)
    const startedAt = performance.now()
    await workload.servedAgain()
    report.recoveriesMs.push(performance.now() - startedAt)
    await workload.stop()
    await serveEach(subject, findings)
    most.refused += workload.failures
    most.ms = Math.max(most.ms, workload.longestMs)
    most.megabytes = Math.max(most.megabytes, peakMegabytes(subject.server.pid))
    await subject.check()
  }
  if (most.refused === 0) findings.add('other', 'the crowd was too small: nobody was refused')
  if (most.ms > MAX_ANSWER_MS) findings.add('other', `an answer took ${formatDuration(most.ms)}`)
  if (most.megabytes > MAX_MEMORY_MB) findings.add('other', `the service took ${most.megabytes} MB`)
  report.notes.push(
    `${most.refused} requests were answered 503; the slowest answer took ${formatDuration(most.ms)}; the service took ${most.megabytes} MB at most`,
  )
}

/** Nobody gets at the heads of the collections for a while. */
async function standStill(cluster: StoreServer, schema: string): Promise<void> {
  await using client = await cluster.connect()
  await client.query(`BEGIN; LOCK TABLE ${schema}.head`)
  await sleep(STANDSTILL_MS)
}

/** When the crowd is gone everybody is served at once, the first time. */
async function serveEach(subject: StoreUnderTest, findings: Findings): Promise<void> {
  using connection = subject.connect()
  const body = JSON.stringify({ id: 'after the crowd' })
  for (let turn = 0; turn < REQUESTS_AFTERWARDS; turn++)
    for (const question of [
      { method: 'GET', path: '/things' },
      { method: 'GET', path: '/-/health' },
      { method: 'PUT', path: '/afterwards', type: 'application/json', body: '{"key":"id"}' },
      { method: 'PUT', path: '/afterwards/after%20the%20crowd', type: 'application/json', body },
    ]) {
      const { status } = await connection.ask(question)
      if (status >= 300) findings.add('other', `after the crowd ${question.method} ${question.path} answers ${status}`)
    }
}

/** The most memory that a process has had. */
function peakMegabytes(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}
