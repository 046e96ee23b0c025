/** `npm run test:fuzz`: sends servers whatever a stranger could send, reports what went wrong, and fails if anything did. */

import { formatCount } from '../../src/contract/message-text.ts'
import { newSeed, parseWords, runCommand, WrongUse, wholeNumber } from '../faults/command.ts'
import { describeExchange, type FuzzOptions, fuzz } from './fuzz.ts'

const USAGE = `Usage: npm run test:fuzz -- [options]

  --minutes N     how long it lasts (2); can be a fraction
  --cases N       so many cases, instead of a time
  --seed N        the cases of an earlier run
  --case N        this case alone, with all that is sent and answered; can be given again`

const WORD = { type: 'string' } as const
const OPTIONS = { minutes: WORD, cases: WORD, seed: WORD, case: { type: 'string', multiple: true } } as const

/** Throws a WrongUse that says what is wrong. */
export function parseOptions(words: readonly string[]): FuzzOptions {
  const { minutes = '2', cases, seed, case: only } = parseWords(words, OPTIONS)
  if (!/^\d+(\.\d+)?$/.test(minutes)) throw new WrongUse(`--minutes is "${minutes}"; give a number.`)
  return {
    seed: seed === undefined ? newSeed() : wholeNumber('seed', seed),
    ...(cases === undefined ? { ms: Number(minutes) * 60_000 } : { cases: wholeNumber('cases', cases) }),
    ...(only && { only: only.map((number) => wholeNumber('case', number)) }),
  }
}

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const options = parseOptions(words)
  const { seed, only } = options
  console.log(`seed ${seed}`)
  const { findings, lines } = await fuzz({
    ...options,
    signal,
    onProgress: (cases) => console.error(`${formatCount(cases)} cases`),
    onFinding: ({ flaw, cases, details }) => {
      const again = `npm run test:fuzz -- --seed ${seed}${cases.map((number) => ` --case ${number}`).join('')}`
      console.log(`WRONG: ${flaw}\n${details}${cases.length === 0 ? '' : `\nagain: ${again}`}\n`)
    },
    ...(only && {
      onExchange: (number, plan, transcript) =>
        console.log([`case ${number}`, ...describeExchange(plan, transcript, Number.POSITIVE_INFINITY)].join('\n')),
    }),
  })
  for (const line of lines) console.log(line)
  for (const { flaw, count, cases } of findings)
    console.log(`WRONG, ${formatCount(count)} ×: ${flaw}${cases.length === 0 ? '' : ` (cases ${cases.join(', ')})`}`)
  if (findings.length === 0) console.log('Nothing was wrong.')
  return findings.length === 0 ? 0 : 1
}

if (import.meta.main) await runCommand(USAGE, main)
