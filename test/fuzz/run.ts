/** `npm run test:fuzz`: sends servers whatever a stranger could send, reports what went wrong, and fails if anything did. */

import { formatCount } from '../../src/contract/message-text.ts'
import { newSeed, parseWords, runCommand, WrongUse, wholeNumber } from '../faults/command.ts'
import { CASE_KINDS } from './case-runner.ts'
import type { Transcript } from './exchange.ts'
import { type Finding, shown } from './findings.ts'
import { fuzz, type RepeatOptions, repeat } from './fuzz.ts'
import { describeDelivery, type Plan } from './plan.ts'

const USAGE = `Usage: npm run test:fuzz -- [options]

  --minutes N     how long it lasts (2); can be a fraction
  --cases N       so many cases, instead of a time
  --seed N        the cases of an earlier run
  --case N        this case alone, with all that is sent and answered; can be given again
  --times N       so many times each of these cases (1): moments are as random as ever
  --without KIND  no cases of this kind; can be given again
                  (${CASE_KINDS.join(', ')})`

const WORD = { type: 'string' } as const
const WORDS = { type: 'string', multiple: true } as const
const OPTIONS = { minutes: WORD, cases: WORD, seed: WORD, case: WORDS, times: WORD, without: WORDS }

/** Throws a WrongUse that says what is wrong. */
export function parseOptions(words: readonly string[]): RepeatOptions {
  const { minutes = '2', cases, seed, case: only = [], times = '1', without = [] } = parseWords(words, OPTIONS)
  if (!/^\d+(\.\d+)?$/.test(minutes)) throw new WrongUse(`--minutes is "${minutes}"; give a number.`)
  const unknown = without.find((kind) => !CASE_KINDS.includes(kind))
  if (unknown !== undefined) throw new WrongUse(`There is no kind "${unknown}". Choose of: ${CASE_KINDS.join(', ')}.`)
  return {
    seed: seed === undefined ? newSeed() : wholeNumber('seed', seed),
    ...(cases === undefined ? { ms: Number(minutes) * 60_000 } : { cases: wholeNumber('cases', cases) }),
    only: only.map((number) => wholeNumber('case', number)),
    times: wholeNumber('times', times),
    without,
  }
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const options = parseOptions(words)
  const { seed, only } = options
  console.log(`seed ${seed}`)
  const onFinding = (finding: Finding) => printFinding(seed, finding)
  const onProgress = (cases: number) => console.error(`${formatCount(cases)} cases`)
  const watched = { ...options, signal, onFinding, onProgress }
  const running = only.length > 0 ? repeat({ ...watched, onExchange: printExchange }) : fuzz(watched)
  const { findings, lines } = await running
  for (const line of lines) console.log(line)
  for (const { flaw, count, cases } of findings)
    console.log(`WRONG, ${formatCount(count)} ×: ${flaw}${cases.length === 0 ? '' : ` (cases ${cases.join(', ')})`}`)
  if (findings.length === 0) console.log('Nothing was wrong.')
  return findings.length === 0 ? 0 : 1
}

/** The first of its kind. */
function printFinding(seed: number, { flaw, cases, details }: Finding): void {
  const words = cases.map((number) => ` --case ${number}`).join('')
  const again = words === '' ? '' : `\nagain: npm run test:fuzz -- --seed ${seed}${words}`
  console.log(`WRONG: ${flaw}\n${details}${again}\n`)
}

function printExchange(number: number, { delivery }: Plan, { ending, sent, reader }: Transcript): void {
  console.log(`case ${number}, delivery: ${describeDelivery(delivery)}`)
  console.log(`sent: ${shown(sent, Number.POSITIVE_INFINITY)}`)
  for (const { status, headers, body } of reader.answers)
    console.log(`answer ${status}: ${JSON.stringify([...headers])} ${shown(body)}`)
  if (reader.rest.length > 0) console.log(`rest: ${shown(reader.rest)}`)
  console.log(`the connection was ${ending}`)
}

if (import.meta.main) await runCommand(USAGE, main)
