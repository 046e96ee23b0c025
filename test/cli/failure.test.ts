import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { describeFailure, Failure } from '../../src/cli/failure.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { MAIN, runInside, workDirectory } from './run-cli.ts'

describe('a failure', () => {
  const fullDisk = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' })
  const cases: [error: unknown, exitStatus: number, message: string][] = [
    [new Failure(1, 'No.'), 1, 'No.'],
    [new StoreError('settings-differ', 'Why.'), 1, 'Why.'],
    [new StoreError('no-collection', 'Why.'), 2, 'Why.'],
    [new StoreError('full', 'Why.'), 3, 'Why.'],
    [fullDisk, 3, 'the system refused: ENOSPC: no space left.'],
    [new TypeError('x is not'), 3, 'unexpected error: TypeError: x is not (REAMS_DEBUG=1 shows where)'],
  ]
  for (const [error, exitStatus, message] of cases)
    it(`${error} has exit status ${exitStatus} and one line`, () =>
      assert.deepEqual(describeFailure(error), { exitStatus, message }))

  it('shows where it happened only with REAMS_DEBUG=1', async (t) => {
    const directory = workDirectory(t)
    assert.doesNotMatch((await runInside(['verify'], { in: directory })).stderr, /\n +at /)
    const { stderr } = await runInside(['verify'], { in: directory, variables: { REAMS_DEBUG: '1' } })
    assert.match(stderr, /^reams: There is no .*\n(.*\n)* +at /)
  })

  it('on a Bun that is too old is one sentence, before anything that it lacks is loaded', () => {
    const asOldBun = `data:text/javascript,Object.defineProperty(process.versions,'bun',{value:'1.3.14'})`
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', asOldBun, MAIN, '--version'])
    const said = [status, String(stdout), String(stderr)]
    assert.deepEqual(said, [3, '', 'reams: This is Bun 1.3.14; Reams needs 1.4 or newer.\n'])
  })

  it('cannot steer the terminal', async (t) => {
    const { stderr } = await runInside(['import', 'x', '\u001b[31m.csv'], { in: workDirectory(t) })
    assert.equal(stderr, 'reams: There is no file \\u001b[31m.csv. Check the path.\n')
  })
})
