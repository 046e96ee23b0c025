/** `npm run test:fuzz`: sends servers whatever a stranger could send, reports what went wrong, and fails if anything did. */

import { formatCount } from '../../src/cli/figures.ts'
import { Interrupted, Interruption } from '../../src/cli/interruption.ts'
import { WrongUse } from '../faults/options.ts'
import { describeDelivery } from './delivery.ts'
import type { Transcript } from './exchange.ts'
import type { Finding } from './findings.ts'
import { fuzz, repeat } from './fuzz.ts'
import { parseOptions, USAGE } from './options.ts'
import type { Plan } from './plan.ts'
import { shown } from './shown.ts'

async function main(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  const options = parseOptions(words)
  using interruption = new Interruption()
  const { signal } = interruption
  console.log(`seed ${options.seed}`)
  const watched = {
    ...options,
    signal,
    onFinding: printFinding.bind(undefined, options.seed),
    onProgress: printProgress,
  }
  const running = options.only.length > 0 ? repeat({ ...watched, onExchange: printExchange }) : fuzz(watched)
  const { findings, lines } = await running.catch((error: unknown) => {
    // An interrupted run fails in many ways; only one of them is the reason.
    signal.throwIfAborted()
    throw error
  })
  for (const line of lines) console.log(line)
  for (const { flaw, count, cases } of findings)
    console.log(`WRONG, ${formatCount(count)} ×: ${flaw}${cases.length === 0 ? '' : ` (cases ${cases.join(', ')})`}`)
  if (findings.length === 0) console.log('Nothing was wrong.')
  return findings.length === 0 ? 0 : 1
}

function printProgress(cases: number): void {
  console.error(`${formatCount(cases)} cases`)
}

/** The first of its kind. */
function printFinding(seed: number, { flaw, cases, details }: Finding): void {
  const words = cases.map((number) => ` --case ${number}`).join('')
  const again = words === '' ? '' : `\nagain: npm run test:fuzz -- --seed ${seed}${words}`
  console.log(`WRONG: ${flaw}\n${details}${again}\n`)
}

function printExchange(number: number, { delivery }: Plan, { ending, sent, reader }: Transcript): void {
  const all = Number.POSITIVE_INFINITY
  console.log(`case ${number}, delivery: ${describeDelivery(delivery)}`)
  console.log(`sent: ${shown(sent, all)}`)
  for (const { status, headers, body } of reader.answers)
    console.log(`answer ${status}: ${JSON.stringify([...headers])} ${shown(body)}`)
  if (reader.rest.length > 0) console.log(`rest: ${shown(reader.rest)}`)
  console.log(`the connection was ${ending}`)
}

function failed(error: unknown): number {
  if (error instanceof WrongUse) console.error(`${error.message}\n\n${USAGE}`)
  else if (error instanceof Interrupted) console.error(`The fuzz was ${error.message}; everything is removed.`)
  else console.error(error)
  if (error instanceof Interrupted) return error.exitStatus
  return error instanceof WrongUse ? 2 : 3
}

process.exitCode = await main(process.argv.slice(2)).catch(failed)
