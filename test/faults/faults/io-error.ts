/** One write or sync of the server fails with EIO. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CliResult } from '../../cli/run-cli.ts'
import { waitUntil } from '../../wait-until.ts'
import type { Trial } from '../fault.ts'
import { EndedEarly } from '../reams-process.ts'
import type { Findings } from '../report.ts'
import { StoreUnderTest } from '../store-under-test.ts'
import type { Acknowledgement } from '../workload.ts'

/** SQLite syncs with one of the two, depending on how it was built. */
const SYNCS = 'fsync,fdatasync'
const WRITES = 'pwrite64'

/** With -D it is the server that is our child. */
const TRACING = ['strace', '-D', '-f', '-y', '-ttt', '-e', `trace=${SYNCS},${WRITES}`]

const HIGHEST = 100

/** How long the server has to show that it goes on. */
const AFTERWARDS_MS = 200

const MAX_MS_UNTIL_ERROR = 20_000

export async function failOneCall(trial: Trial): Promise<void> {
  const { directory, rounds, random, report, beginRound } = trial
  await using subject = await StoreUnderTest.create({ location: join(directory, 'reams.db') }, report, random)
  const outcomes = { recovered: 0, unnoticed: 0, exited: 0 }
  for (let done = 0; done < rounds; done++) {
    beginRound()
    const n = 1 + Math.floor((done * HIGHEST) / rounds)
    // One writer: then each acknowledged write must have had a sync of its own. More: they share commits, and failures.
    const writers = done % 2 === 0 ? 1 : 4
    for (const calls of [SYNCS, WRITES]) outcomes[await failOnce(trial, subject, calls, n, writers)]++
  }
  const { recovered, unnoticed, exited } = outcomes
  report.notes.push(
    `after the error the server went on ${recovered} times, ${unnoticed} of the errors hit no request, and it ended ${exited} times`,
  )
}

async function failOnce(
  { directory, report, random }: Trial,
  subject: StoreUnderTest,
  calls: string,
  n: number,
  writers: number,
): Promise<'recovered' | 'unnoticed' | 'exited'> {
  const { findings } = report
  const traceFile = join(directory, 'trace')
  const inject = `inject=${calls}:error=EIO:when=${n}`
  await subject.server.kill()
  try {
    await subject.start([...TRACING, '-e', inject, '-o', traceFile])
  } catch (error) {
    // The error came when it opened the store.
    if (!(error instanceof EndedEarly)) throw error
    checkMessage(error.ended, findings)
    await subject.recover()
    return 'exited'
  }
  const workload = subject.work({ writers })
  workload.tolerated = [503]
  const isInjected = await errorInjected(traceFile, subject)
  if (!isInjected) findings.add('other', `${calls} number ${n} was never reached`)
  // Every other time the server does not get to do anything afterwards.
  await sleep(random(2) * AFTERWARDS_MS)
  const hasExited = subject.server.hasEnded
  const killed = subject.server.kill()
  await workload.stop()
  if (hasExited) checkMessage(await killed, findings)
  if (workload.failures > writers)
    findings.add('other', `${workload.failures} writes failed after one error at ${calls} number ${n}`)
  // strace writes the last calls after the server has ended.
  await waitUntil(() => END_OF_TRACE.test(readFileSync(traceFile, 'utf8')), MAX_MS_UNTIL_ERROR)
  checkSyncs(workload.acknowledgements, readSystemCalls(traceFile), findings)
  await subject.recover()
  return hasExited ? 'exited' : workload.failures > 0 ? 'recovered' : 'unnoticed'
}

async function errorInjected(traceFile: string, { server }: StoreUnderTest): Promise<boolean> {
  const isInjected = () => readSystemCalls(traceFile).some((call) => call.isInjected)
  await waitUntil(() => server.hasEnded || isInjected(), MAX_MS_UNTIL_ERROR).catch(() => {})
  return isInjected()
}

/** A server that gives up says why, in words. */
function checkMessage({ status, stderr }: CliResult, findings: Findings): void {
  if (status === null || !/^reams: .*\.$/m.test(stderr) || /^ +at /m.test(stderr))
    findings.add('other', `the server ended with status ${status} and said: ${stderr}`)
}

/** Between the moment a write was sent and its acknowledgement a sync of the log has succeeded. */
function checkSyncs(
  acknowledgements: readonly Acknowledgement[],
  calls: readonly SystemCall[],
  findings: Findings,
): void {
  const syncs = calls.filter(({ name, path, result }) => name !== WRITES && path.endsWith('-wal') && result === 0)
  for (const { id, sentMs, answeredMs } of acknowledgements)
    if (!syncs.some(({ startedMs }) => startedMs >= sentMs && startedMs <= answeredMs))
      findings.add('other', `${id} was acknowledged without a sync`)
}

interface SystemCall {
  readonly name: string
  /** The file that it was about. */
  readonly path: string
  /** Milliseconds since 1970. */
  readonly startedMs: number
  readonly result: number
  /** Whether strace made it fail. */
  readonly isInjected: boolean
}

/** The last line is about the end of the process. */
const END_OF_TRACE = /\+\+\+ (killed by \w+|exited with \d+) \+\+\+\s*$/

const BEGINNING = /^(\d+) +([\d.]+) (\w+)\(\d+<([^>]*)>/
const RESUMPTION = /^(\d+) +[\d.]+ <\.\.\. \w+ resumed>/
const END = /\) += (-?\d+).*?(\(INJECTED\))?$/

/** Calls that have ended, in the order of their ends. */
function readSystemCalls(file: string): SystemCall[] {
  const calls: SystemCall[] = []
  // Where threads get in each other's way a call is on two lines, and its thread has no other call between them.
  const begun = new Map<string, Pick<SystemCall, 'name' | 'path' | 'startedMs'>>()
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const [, thread = '', seconds, name = '', path = ''] = BEGINNING.exec(line) ?? RESUMPTION.exec(line) ?? []
    if (name !== '') begun.set(thread, { name, path, startedMs: Number(seconds) * 1000 })
    const [end, result, injected] = END.exec(line) ?? []
    const call = begun.get(thread)
    if (end !== undefined && call !== undefined)
      calls.push({ ...call, result: Number(result), isInjected: injected !== undefined })
  }
  return calls
}
