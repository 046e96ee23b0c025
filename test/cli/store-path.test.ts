import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { eventLines } from './items.ts'
import { runCli, runInside, workDirectory } from './run-cli.ts'

const COMMANDS = [
  'collections',
  'verify',
  'export x',
  'drop x',
  'set x --public',
  'serve',
  'token list',
  'token revoke ci',
  'token create --name ci --scope admin',
].map((words) => words.split(' '))

describe('the path of the store', () => {
  for (const words of [...COMMANDS, ['import', 'x', '-']])
    it(`reams ${words.join(' ')} refuses a directory and a file that is no store, and creates none`, async (t) => {
      const directory = workDirectory(t)
      mkdirSync(join(directory, 'folder'))
      writeFileSync(join(directory, 'notes.txt'), 'precious')
      const run = (store: string) => runInside([...words, '--store', store], { in: directory, input: eventLines(1) })
      const folder = await run('folder')
      assert.match(folder.stderr, /^reams: folder is not a Reams store: it is a directory\. .*--store.*\n$/)
      const file = await run('notes.txt')
      assert.match(file.stderr, /^reams: notes\.txt is not a Reams store: .*\n$/)
      const missing = await run(words[0] === 'import' ? 'no/nope.db' : 'nope.db')
      assert.match(
        missing.stderr,
        /^reams: There is no (store at nope\.db\. .*reams import NAME FILE|directory no for)/,
      )
      assert.deepEqual([folder.status, file.status, missing.status], [2, 2, 2])
      assert.equal(statSync(join(directory, 'notes.txt')).size, 8)
      assert.deepEqual(readdirSync(directory).toSorted(), ['folder', 'notes.txt', 'tmp'])
    })

  it('in a directory that cannot be written to: a message, nothing else', async (t) => {
    const lack = lackOfOtherUser()
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    mkdirSync(join(directory, 'closed'))
    chmodSync(join(directory, 'closed'), 0o555)
    const words = ['import', 'x', '-', '--store', 'closed/x.db']
    const result = await runCli(words, { in: directory, input: eventLines(1), ...withoutRights() })
    assert.equal(result.status, 3, result.stderr)
    assert.match(result.stderr, /^reams: The store closed\/x\.db cannot be opened.*writable.*\n$/)
    assert.deepEqual(readdirSync(join(directory, 'closed')), [])
  })
})
