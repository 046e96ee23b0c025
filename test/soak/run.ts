/** `npm run test:soak`: lets a server work for an hour, and fails if its memory or open files grow, or if anything is wrong. */

import { join } from 'node:path'
import { loggingTo, REAMS, runProgram, startServer } from '../../bench/child-process.ts'
import { cpuMs } from '../../bench/cpu-time.ts'
import { formatDuration } from '../../src/cli/output.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { formatCount } from '../../src/contract/message-text.ts'
import { parseWords, runCommand, WrongUse } from '../faults/command.ts'
import { freePort } from '../store/free-port.ts'
import { ServerSamples } from './server-samples.ts'
import { SoakLoad } from './soak-load.ts'

/** A shorter run is over before the cache and the heap have their size. */
const FEWEST_MINUTES_TO_JUDGE_MEMORY = 20
const MOST_GROWTH = 1.05
const PROGRESS_EVERY_MS = 30_000
const MOST_SHOWN = 20

const USAGE = `Usage: npm run test:soak -- [options]

  --minutes N   how long it lasts (60); memory is judged from ${FEWEST_MINUTES_TO_JUDGE_MEMORY} minutes on`

interface Verdict {
  readonly text: string
  /** Undefined where the run was too short to tell. */
  readonly isReached: boolean | undefined
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const { minutes = '60' } = parseWords(words, { minutes: { type: 'string' } })
  if (!(Number(minutes) >= 1)) throw new WrongUse(`--minutes is "${minutes}"; give a number of at least 1.`)
  using directory = new TemporaryDirectory()
  const load = new SoakLoad(directory.path, signal)
  console.error('making the store')
  await load.prepare()
  const served = await serveUnder(load, join(directory.path, 'log'), Number(minutes), signal)
  const { unexpected } = load.done
  for (const what of unexpected.slice(0, MOST_SHOWN)) console.log(what)
  const verdicts: Verdict[] = [
    ...served,
    { text: `unexpected responses: ${unexpected.length}`, isReached: unexpected.length === 0 },
    await verify(load.storeWords, signal),
  ]
  for (const { text, isReached = 'not judged' } of verdicts)
    console.log(`${text}: ${isReached === true ? 'reached' : isReached || 'NOT REACHED'}`)
  return verdicts.every(({ isReached }) => isReached !== false) ? 0 : 1
}

/** Prints what the server held and did. */
async function serveUnder(load: SoakLoad, log: string, minutes: number, signal: AbortSignal): Promise<Verdict[]> {
  const create = ['token', 'create', '--name', 'soak', '--scope', 'admin', ...load.storeWords]
  const { stdout: token } = await runProgram(REAMS, create, signal)
  const adminPort = await freePort()
  const words = ['serve', '--port', '0', '--admin-port', `${adminPort}`, '--log-requests', 'all', ...load.storeWords]
  await using server = await startServer(loggingTo(log), words, signal)
  using samples = new ServerSamples(server.pid)
  const startedAt = performance.now()
  const progress = setInterval(() => {
    const after = formatDuration(performance.now() - startedAt)
    console.error(`${after}: ${samples.last}, ${load.done.unexpected.length} unexpected responses`)
  }, PROGRESS_EVERY_MS)
  try {
    const over = AbortSignal.any([signal, AbortSignal.timeout(minutes * 60_000)])
    await load.run(server.url, `http://127.0.0.1:${adminPort}`, token.trim(), over)
  } finally {
    clearInterval(progress)
  }
  signal.throwIfAborted()
  for (const figure of ['megabytes', 'descriptors', 'threads'] as const) {
    const quarters = samples
      .quarters(figure)
      .map((quarter) => `${quarter.mean.toFixed(1)} (${quarter.most.toFixed(1)})`)
    console.log(`${figure} by quarters, mean and most: ${quarters.join(', ')}`)
  }
  console.log(`processor: ${((cpuMs([server.pid]) / (performance.now() - startedAt)) * 100).toFixed(0)} % of one core`)
  for (const [kind, count] of load.done.counts) console.log(`${kind}: ${formatCount(count)}`)
  return [...judge(samples, minutes), await compareCounts(load, server.url)]
}

function judge(samples: ServerSamples, minutes: number): Verdict[] {
  const [megabytes, descriptors] = [samples.quarters('megabytes'), samples.quarters('descriptors')]
  const growth = (megabytes[3]?.mean ?? 0) / (megabytes[1]?.mean ?? 0)
  const more = (descriptors[3]?.mean ?? 0) - (descriptors[1]?.mean ?? 0)
  return [
    {
      text: `memory, mean of the last quarter ÷ of the second: ${growth.toFixed(3)} (at most ${MOST_GROWTH})`,
      isReached: minutes < FEWEST_MINUTES_TO_JUDGE_MEMORY ? undefined : growth <= MOST_GROWTH,
    },
    {
      // One that is never closed counts from then on; connections come and go, and change the mean by less.
      text: `descriptors, mean of the last quarter − of the second: ${more.toFixed(2)} (less than 1)`,
      isReached: more < 1,
    },
  ]
}

async function compareCounts(load: SoakLoad, url: string): Promise<Verdict> {
  const answer = await fetch(url)
  const { _embedded: embedded } = (await answer.json()) as {
    _embedded: { collections: { name: string; item_count: number }[] }
  }
  const served = new Map(embedded.collections.map(({ name, item_count: count }) => [name, count]))
  const counts = Object.entries(load.itemCounts)
  const wrong = counts.filter(([name, count]) => served.get(name) !== count)
  const details = wrong.map(([name, count]) => `, ${name} has ${served.get(name)} and must have ${count}`)
  return { text: `wrong counts: ${wrong.length} of ${counts.length}${details.join('')}`, isReached: wrong.length === 0 }
}

async function verify(storeWords: readonly string[], signal: AbortSignal): Promise<Verdict> {
  const isSound = await runProgram(REAMS, ['verify', ...storeWords], signal).then(
    () => true,
    () => false,
  )
  return { text: 'reams verify at the end', isReached: isSound }
}

await runCommand(USAGE, main)
