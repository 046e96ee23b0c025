import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLE = join(ROOT, 'examples/conformance.test.ts')

/** A test runner inside a test runner reports to the outer one, unless it does not know of it. */
const ENVIRONMENT = { ...process.env, NODE_TEST_CONTEXT: undefined }

function runTest(path: string) {
  return promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', path], { cwd: ROOT, env: ENVIRONMENT })
}

describe('the example of a test with the checker', () => {
  it('passes', async () => {
    const { stdout } = await runTest(EXAMPLE)
    assert.match(stdout, /^# pass 1$/m)
  })

  it('fails, and says where, when the app breaks a rule', async () => {
    const source = readFileSync(EXAMPLE, 'utf8').replace('item_count: events.length', 'item_count: events.length + 1')
    const words = ['--input-type=module-typescript', '--eval', source]
    const run = promisify(execFile)(process.execPath, words, { cwd: ROOT, env: ENVIRONMENT })
    await assert.rejects(run, ({ stdout }: { stdout: string }) => /C2/.test(stdout) && /1235/.test(stdout))
  })
})
