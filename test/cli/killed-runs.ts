/** Commands that are killed while they write. */

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt } from '../../src/store/running-process.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, startCli, workDirectory } from './run-cli.ts'

/** The temporary directories in a directory. */
export function partsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('reams-part-'))
}

/** After so many runs that were killed, the next leaves its file and nothing else; one that is stopped meanwhile ends well. */
export async function killBetweenRuns(t: TestContext, words: readonly string[], rounds: number): Promise<void> {
  const directory = workDirectory(t)
  const to = join(directory, 'to')
  mkdirSync(to)
  await putLines(directory, 'events', eventLines(10_000), { keyField: 'id' })
  const { living, part } = await stopInTheMiddle(t, words, directory, to)
  await killAtRandom(() => words, directory, to, rounds)
  const next = await runCli(words, { in: directory })
  assert.equal(next.status, 0, next.stderr)
  assert.deepEqual(partsIn(to), [part])
  living.child.kill('SIGCONT')
  const { status, stderr } = await living.ends()
  assert.equal(status, 0, stderr)
  assert.equal(readdirSync(to).length, 1)
}

/** Runs a command a few times, and kills it each time at a random moment after it has begun to write to `to`. */
export async function killAtRandom(
  commandOf: (round: number) => readonly string[],
  directory: string,
  to: string,
  rounds: number,
) {
  for (let round = 0; round < rounds; round++) {
    const before = partsIn(to)
    const cli = new RunningCli(commandOf(round), { in: directory, input: '' })
    const hasBegun = () => partsIn(to).some((name) => !before.includes(name))
    while (!hasBegun() && cli.child.exitCode === null) await sleep(1)
    await sleep(Math.random() * 100)
    cli.child.kill('SIGKILL')
    await cli.ends()
  }
}

/** A run of a command that is stopped while it writes to `to`, and the name of its directory there. */
async function stopInTheMiddle(t: TestContext, words: readonly string[], directory: string, to: string) {
  // Before something is in it, others may remove the directory: then its process makes another one. And before it writes, the process may
  // hold a lock on its source that nobody shares.
  const isFilled = (name: string) =>
    (attempt(() => readdirSync(join(to, name))) ?? []).some((file) => !file.startsWith('reams.lock'))
  for (;;) {
    const living = startCli(t, words, { in: directory, input: '' })
    while (!partsIn(to).some(isFilled) && living.child.exitCode === null) await sleep(1)
    living.child.kill('SIGSTOP')
    const part = partsIn(to).find(isFilled)
    if (part !== undefined) return { living, part }
    // It ended a moment too early.
    living.child.kill('SIGCONT')
    await living.ends()
  }
}
