/** Readers that take as many answers as a server gives, in a process of their own: wrk where it is installed, else autocannon. */

import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { AUTOCANNON_LOAD, type Program, runProgram } from './child-process.ts'
import { untilAnswered } from './until-answered.ts'
import type { Workspace } from './workspace.ts'

export const READERS = 16
/** Of one answer: a slow server gives those of all readers one after the other. */
const TIMEOUT_SECONDS = 300
/** A server that gives no answer in this time is not tried again. */
const MAX_SECONDS = 60

/** What a load needs of it. */
type Place = Pick<Workspace, 'isTryOut' | 'path' | 'signal'>

function secondsFor({ isTryOut }: Place, { seconds = 0 }: ReadPlan): number {
  return Math.max(Math.ceil(seconds), isTryOut ? 1 : 2)
}

export interface ReadPlan {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Asks for pages from 1 to this at random, instead of for the URL as it is. */
  readonly pages?: number
  /** How long, where the usual time would hold too few answers of a slow server. */
  readonly seconds?: number
}

export interface ReadRate {
  readonly requestsASecond: number
  readonly p99Ms: number
}

export const LOAD_TOOL = spawnSync('wrk', ['--version']).error === undefined ? 'wrk' : 'autocannon'

export async function readRate(workspace: Place, plan: ReadPlan): Promise<ReadRate> {
  const seconds = secondsFor(workspace, plan)
  const run = LOAD_TOOL === 'wrk' ? runWrk : runAutocannon
  const rate = await run(workspace, { ...plan, seconds })
  // What is still under way when the time is over must not disturb the next one.
  await untilAnswered(plan.url, workspace.signal)
  if (rate.requestsASecond > 0) return rate
  // No answer in all that time is no rate: the machine was busy, or the server is slower than was thought.
  if (seconds > MAX_SECONDS) throw new Error(`${plan.url} gave no answer in ${seconds} s.`)
  return readRate(workspace, { ...plan, seconds: 2 * seconds })
}

type TimedPlan = ReadPlan & { readonly seconds: number }

async function runAutocannon(workspace: Place, plan: TimedPlan): Promise<ReadRate> {
  const words = [JSON.stringify({ ...plan, connections: READERS, timeoutSeconds: TIMEOUT_SECONDS })]
  return JSON.parse((await runProgram(AUTOCANNON_LOAD, words, workspace.signal)).stdout)
}

const WRK: Program = ['wrk', '--threads', '1', '--latency']

async function runWrk(workspace: Place, plan: TimedPlan): Promise<ReadRate> {
  const { url, headers, pages, seconds } = plan
  const script = workspace.path('random-pages.lua')
  await writeFile(script, randomPagesScript(pages))
  const words = [
    ...['--connections', String(READERS), '--duration', `${seconds}s`],
    ...['--timeout', `${TIMEOUT_SECONDS}s`],
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(pages === undefined ? [] : ['--script', script]),
    url,
  ]
  const { stdout } = await runProgram(WRK, words, workspace.signal)
  if (/Non-2xx or 3xx|Socket errors/.test(stdout)) throw new Error(`Not all went well:\n${stdout}`)
  const [, rate] = /Requests\/sec: +([\d.]+)/.exec(stdout) ?? []
  const [, p99, unit = ''] = /99% +([\d.]+)(us|ms|s|m)\b/.exec(stdout) ?? []
  if (rate === undefined || p99 === undefined) throw new Error(`wrk tells no rate:\n${stdout}`)
  return { requestsASecond: Number(rate), p99Ms: Number(p99) * (MILLISECONDS[unit] ?? Number.NaN) }
}

/** Made before the clock starts: a request that is made when it is sent takes wrk longer than to read the answer. */
function randomPagesScript(pages = 1): string {
  return `local requests, at = {}, 0
init = function()
  for i = 1, 5000 do requests[i] = wrk.format("GET", wrk.path .. "?page=" .. math.random(${pages})) end
end
request = function()
  at = at % #requests + 1
  return requests[at]
end
`
}

const MILLISECONDS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }
