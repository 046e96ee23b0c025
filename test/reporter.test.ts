import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'

const REPORTER = join(import.meta.dirname, 'reporter.ts')

describe('the last line of a run', () => {
  const cases: [reasons: (string | true)[], line: string, statusInCi: number][] = [
    [[], 'Not tested: nothing was skipped.', 0],
    [['REAMS_TEST_CITUS names no Citus'], 'Not tested: REAMS_TEST_CITUS names no Citus (1 test).', 0],
    [['zsh is missing', 'zsh is missing'], 'Not tested: zsh is missing (2 tests).', 1],
    [[true], 'Not tested: no reason given for "test 0" (1 test).', 1],
  ]
  for (const [reasons, line, statusInCi] of cases)
    it(`is "${line}", and ${statusInCi === 0 ? 'CI passes' : 'CI fails'}`, (t) => {
      const file = join(workDirectory(t), 'some.test.mjs')
      const tests = reasons.map((skip, index) => `it('test ${index}', { skip: ${JSON.stringify(skip)} }, () => {})`)
      writeFileSync(file, ["import { it } from 'node:test'", "it('passes', () => {})", ...tests].join('\n'))
      for (const CI of ['true', '']) {
        // A test runner in a test would report to the one around it.
        const { NODE_TEST_CONTEXT: _, ...variables } = process.env
        const { status, stdout } = spawnSync(process.execPath, ['--test', `--test-reporter=${REPORTER}`, file], {
          env: { ...variables, CI },
          encoding: 'utf8',
        })
        assert.equal(status, CI === 'true' ? statusInCi : 0, stdout)
        assert.ok(stdout.includes(`\n${line}\n`), stdout)
        assert.equal(stdout.includes('CI must test this too: '), CI === 'true' && statusInCi === 1)
      }
    })
})
