import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

it('a program that restarts keeps its words, its variables and the flags of Node', () => {
  const program = fileURLToPath(import.meta.resolve('./restarting-program.ts'))
  const [flags, words] = [['--max-semi-space-size=2'], ['serve', '--port=0']]
  const env = { ...process.env, KEPT: 'as it was', RESTARTED: undefined }
  const output = execFileSync(process.execPath, [...flags, program, ...words], { env, encoding: 'utf8' })
  assert.deepEqual(JSON.parse(output), [flags, words, 'as it was', 'yes'])
})
