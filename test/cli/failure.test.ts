import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeFailure, Failure } from '../../src/cli/failure.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { runCli, workDirectory } from './run-cli.ts'

describe('a failure', () => {
  it('speaks for itself when it was made for the user', () =>
    assert.deepEqual(describeFailure(new Failure(1, 'No.')), { exitStatus: 1, message: 'No.' }))

  for (const [code, exitStatus] of [
    ['settings-differ', 1],
    ['no-collection', 2],
    ['full', 3],
    ['busy', 3],
  ] as const)
    it(`of the store, ${code}, has exit status ${exitStatus}`, () =>
      assert.deepEqual(describeFailure(new StoreError(code, 'Why.')), { exitStatus, message: 'Why.' }))

  it('of the system could not be helped', () => {
    const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    })
    const message = 'the system refused: ENOSPC: no space left on device, write.'
    assert.deepEqual(describeFailure(error), { exitStatus: 3, message })
  })

  it('that nobody foresaw is named, without a stack trace', () =>
    assert.deepEqual(describeFailure(new TypeError('x is not a function')), {
      exitStatus: 3,
      message: 'unexpected error: TypeError: x is not a function (REAMS_DEBUG=1 shows where)',
    }))

  it('shows where it happened only with REAMS_DEBUG=1', async (t) => {
    const directory = workDirectory(t)
    assert.doesNotMatch((await runCli(['verify'], { in: directory })).stderr, /\n +at /)
    const variables = { REAMS_DEBUG: '1' }
    assert.match(
      (await runCli(['verify'], { in: directory, variables })).stderr,
      /^reams: There is no .*\n(.*\n)* +at /,
    )
  })

  it('cannot steer the terminal', async (t) => {
    const { stderr } = await runCli(['import', 'x', '\u001b[31m.csv'], { in: workDirectory(t) })
    assert.equal(stderr, 'reams: There is no file \\u001b[31m.csv. Check the path.\n')
  })
})
