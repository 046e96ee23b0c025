/** What `npm run test:faults` and `npm run test:fuzz` have in common: their options, how they end, and with which status. */

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { Interrupted, Interruption } from '../../src/cli/interruption.ts'

export class WrongUse extends Error {
  override readonly name = 'WrongUse'
}

export function newSeed(): number {
  return 1 + Math.floor(Math.random() * 1e9)
}

export function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new WrongUse(`--${name} is "${text}"; give a whole number of at least 1.`)
  return Number(text)
}

/** Throws a WrongUse that says what is wrong. */
export function parseWords<const Options extends ParseArgsOptionsConfig>(words: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...words], options }).values
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Runs a command that resolves with its exit status. Ctrl-C aborts the signal, and everything is removed. */
export async function runCommand(
  usage: string,
  main: (words: readonly string[], signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const words = process.argv.slice(2)
  if (words.includes('--help')) return console.log(usage)
  using interruption = new Interruption()
  const { signal } = interruption
  try {
    process.exitCode = await main(words, signal)
  } catch (error) {
    // An interrupted run fails in many ways; only one of them is the reason.
    const reason: unknown = signal.aborted ? signal.reason : error
    if (reason instanceof WrongUse) console.error(`${reason.message}\n\n${usage}`)
    else if (reason instanceof Interrupted) console.error(`The run was ${reason.message}; everything is removed.`)
    else console.error(reason)
    process.exitCode = reason instanceof Interrupted ? reason.exitStatus : reason instanceof WrongUse ? 2 : 3
  }
}
