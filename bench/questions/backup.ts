/** What does `reams backup` cost, and do readers notice it? */

import { REAMS, runProgram } from '../child-process.ts'
import { databaseBytes, removedAtEnd } from '../database-file.ts'
import { LatencyRecorder } from '../latency.ts'
import { durationMs, median } from '../measure.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { randomPaths } from '../random-paths.ts'

/** Requests between two looks whether the backup still runs. */
const BLOCK = 20

export const BACKUP: Question = {
  name: 'backup',
  needs: ['ndjson', 'store'],
  cost: { seconds: 10, secondsAMillion: 10 },
  async run(workspace) {
    const { rounds, requests, signal } = workspace
    const { path } = await workspace.store()
    const [copied, backedUp] = [workspace.path('copied.db'), workspace.path('backed-up.db')]
    await using _copied = removedAtEnd(copied)
    await using _backedUp = removedAtEnd(backedUp)
    await using server = await workspace.serve(path)
    using client = new PageClient(server.url)
    const side = { client, encoding: 'gzip', paths: randomPaths(requests, workspace.lastPage) } as const
    await new LatencyRecorder(side).fetch(requests, signal)
    const [idle, busy] = [new LatencyRecorder(side), new LatencyRecorder(side)]
    const [cpMs, copyMs, verifyMs]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < rounds; round++) {
      workspace.step('backup: cp of the file, random pages, and the same pages during reams backup')
      cpMs.push(await durationMs(() => runProgram(['cp'], [path, copied], signal)))
      await idle.fetch(requests, signal)
      let isRunning = true
      const backup = runProgram(REAMS, ['backup', backedUp, '--force', '--store', path], signal).finally(() => {
        isRunning = false
      })
      while (isRunning) await busy.fetch(BLOCK, signal)
      const { stdout } = await backup
      copyMs.push(durationIn(stdout, 'copied in'))
      verifyMs.push(durationIn(stdout, 'verified in'))
    }
    const pages = { during: busy.latency(), idle: idle.latency() }
    const raw = { cpMs, copyMs, verifyMs, bytes: databaseBytes(path) }
    return [
      {
        measured: 'reams backup, copying, synced ÷ cp of the file, not synced: speed',
        value: median(cpMs) / median(copyMs),
        required: { atLeast: 0.3 },
        raw,
      },
      { measured: 'the same, verification', value: median(verifyMs) / 1000, unit: 's', better: 'lower', raw },
      {
        measured: 'random page during reams backup ÷ without, gzip through HTTP, p99',
        value: pages.during.p99Ms / pages.idle.p99Ms,
        required: { atMost: 2 },
        raw: pages,
      },
    ]
  },
}

/** The milliseconds of what the program printed, such as `copied in 443 ms`, `1.2 s` or `2 min 3 s`. */
function durationIn(text: string, before: string): number {
  const [, hours = 0, minutes = 0, seconds = 0, ms = 0] =
    new RegExp(`${before} (?:(\\d+) h ?)?(?:(\\d+) min ?)?(?:([\\d.]+) s)?(?:(\\d+) ms)?`).exec(text) ?? []
  return Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(ms)
}
