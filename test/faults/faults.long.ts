import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { PostgresCluster } from '../store/postgres-cluster.ts'
import { newSeed } from './command.ts'
import { runFault, type Trial } from './fault.ts'
import { FAULTS } from './faults/index.ts'
import { cutPower } from './faults/sudden-end.ts'
import { lackOf, POSTGRES, STRACE, XFS } from './needs.ts'

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url))

/** Syncs that do nothing and say that they did. */
const LYING_SYNCS = ['strace', '-D', '-f', '-e', 'inject=fsync,fdatasync:retval=0', '-o', '/dev/null']

function runCommand(...words: string[]) {
  return spawnSync(process.execPath, [RUN, ...words], { encoding: 'utf8' })
}

describe('every acknowledged write is kept, each request whole or not at all, and a pull brings every item once', () => {
  const resources = new AsyncDisposableStack()
  /** One for all of them: making it takes longer than a round. */
  let postgres: PostgresCluster | undefined

  before(async () => {
    if ((await lackOf([POSTGRES])) !== undefined) return
    const directory = resources.use(new TemporaryDirectory())
    postgres = resources.use(await PostgresCluster.create(directory.path))
  })
  after(() => resources.disposeAsync())

  for (const fault of FAULTS)
    it(`${fault.name}: ${fault.description}`, async (t) => {
      const lack = await lackOf(fault.needs)
      if (lack !== undefined) return t.skip(lack)
      const seed = newSeed()
      const options = { seed, rounds: fault.fewRounds, ...(postgres && { postgres }) }
      const { findings, checked } = await runFault(fault, options)
      assert.deepEqual(findings.messages, [], `seed ${seed}`)
      assert.ok(checked > 0, `there was nothing to check (seed ${seed})`)
    })

  it('but not on a disk that lies about its syncs, which shows that the check would find a loss', async (t) => {
    const lack = await lackOf([STRACE, XFS])
    if (lack !== undefined) return t.skip(lack)
    const run = { run: (trial: Trial) => cutPower(trial, LYING_SYNCS) }
    const { findings } = await runFault(run, { seed: newSeed(), rounds: 2 })
    assert.ok(findings.counts.lost > 0)
  })
})

describe('the command', () => {
  it('prints the figures of a fault and exits with 0 when they are reached', () => {
    const { status, stdout, stderr } = runCommand('--fault', 'kill-server', '--rounds', '1', '--seed', '7')
    const [head, row] = stdout.split('\n')
    for (const column of ['seed', 'rounds', 'checked', 'lost', 'doubled', 'partial', 'recovery'])
      assert.match(head ?? '', new RegExp(`\\b${column}\\b`))
    // Whether it is ready again in time is a matter of what else the machine has to do.
    assert.match(row ?? '', /^kill-server +7 +1 +\d+ +0 +0 +0 +0 .* m?s.* (NOT REACHED|reached)$/, stderr)
    assert.equal(status, row?.endsWith('NOT REACHED') ? 1 : 0)
  })

  it('refuses what it does not know', () => {
    for (const [words, message] of [
      [['--fault', 'flood'], 'There is no fault "flood". Choose of: kill-server, kill-import, '],
      [['--rounds', '0'], '--rounds is "0"; give a whole number of at least 1.'],
      [['--round', '5'], "Unknown option '--round'"],
    ] as const) {
      const { status, stdout, stderr } = runCommand(...words)
      assert.equal(status, 2)
      assert.equal(stdout, '')
      assert.ok(stderr.startsWith(message), stderr)
    }
  })
})
