/** `npm run test:restarts`: restarts two servers behind nginx under load, and fails if a client saw an error. */

import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { formatCount } from '../../src/contract/message-text.ts'
import { parseWords, runCommand, wholeNumber } from '../faults/command.ts'
import { lackOf, NGINX } from '../faults/needs.ts'
import { restartUnderLoad } from './restart-under-load.ts'

const USAGE = `Usage: npm run test:restarts -- [options]

  --restarts N   how many, by turns (50)
  --workers N    processes of each server (1)`

const OPTIONS = { restarts: { type: 'string' }, workers: { type: 'string' } } as const

async function main(words: readonly string[], signal: AbortSignal): Promise<number> {
  const { restarts = '50', workers = '1' } = parseWords(words, OPTIONS)
  const lack = await lackOf([NGINX])
  if (lack !== undefined) {
    console.error(`Skipped: ${lack}`)
    return 0
  }
  using directory = new TemporaryDirectory()
  const { reads, writes, findings, log } = await restartUnderLoad({
    directory: directory.path,
    restarts: wholeNumber('restarts', restarts),
    workers: wholeNumber('workers', workers),
    signal,
    onRestart: (done) => {
      if (done % 10 === 0) console.error(`${done} restarts`)
    },
  })
  for (const message of findings.messages) console.error(message)
  if (findings.total > 0) console.error(log)
  const { other: failed, ...wrong } = findings.counts
  const lost = Object.values(wrong).reduce((sum, count) => sum + count)
  console.log(
    `${restarts} restarts: ${formatCount(reads)} reads, ${formatCount(writes)} writes, ${failed} failed, ${lost} lost`,
  )
  return findings.total === 0 ? 0 : 1
}

await runCommand(USAGE, main)
