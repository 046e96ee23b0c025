import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { QUESTIONS } from '../bench/questions/index.ts'
import { FAULTS } from './faults/faults/index.ts'
import { inlineCodeOf, linksOf, tablesOf } from './markdown.ts'

const REFERENCE = join(import.meta.dirname, '../docs/reference')
const PAGE = readFileSync(join(REFERENCE, 'reliability.md'), 'utf8')
const { scripts } = JSON.parse(readFileSync(join(REFERENCE, '../../package.json'), 'utf8'))

describe('the page about reliability', () => {
  const rows = tablesOf(PAGE).flat()

  for (const [promise = '', proof = '', figure] of rows)
    it(`has a test that exists, and a figure, for: ${promise}`, () => {
      const files = linksOf(proof).filter((link) => link.startsWith('../../test/'))
      const commands = inlineCodeOf(proof).filter((code) => code.startsWith('npm run '))
      assert.ok(files.length + commands.length > 0)
      for (const file of files) assert.ok(existsSync(join(REFERENCE, file)), file)
      for (const command of commands) assertExists(command)
      assert.ok(figure)
    })

  it('names every fault', () => {
    const named = [...PAGE.matchAll(/--fault ([\w-]+)/g)].map(([, name]) => name)
    assert.deepEqual([...new Set(named)].sort(), FAULTS.map(({ name }) => name).sort())
  })
})

function assertExists(command: string): void {
  const [, script = '', words = ''] = /^npm run ([\w:]+)(?: -- (.*))?$/.exec(command) ?? []
  assert.ok(Object.hasOwn(scripts, script), command)
  if (script !== 'bench') return
  for (const word of words.split(' '))
    assert.ok(
      QUESTIONS.some(({ name }) => name === word),
      command,
    )
}
