import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { eventLines } from './items.ts'
import { runCli, workDirectory } from './run-cli.ts'

const COMMANDS = [['collections'], ['verify'], ['export', 'x'], ['drop', 'x'], ['set', 'x', '--public'], ['serve']]

describe('the path of the store', () => {
  for (const words of COMMANDS)
    it(`reams ${words.join(' ')} makes no store where there is none, and says what to do`, async (t) => {
      const directory = workDirectory(t)
      const result = await runCli([...words, '--store', 'nope.db'], { in: directory })
      assert.equal(result.status, 2)
      assert.match(
        result.stderr,
        /^reams: There is no store at nope\.db\. .*reams import NAME FILE --store nope\.db.*\n$/,
      )
      assert.equal(existsSync(join(directory, 'nope.db')), false)
    })

  for (const words of [...COMMANDS, ['import', 'x', '-']])
    it(`reams ${words.join(' ')} refuses a directory and a file that is no store, and leaves them alone`, async (t) => {
      const directory = workDirectory(t)
      mkdirSync(join(directory, 'folder'))
      const folder = await runCli([...words, '--store', 'folder'], { in: directory, input: eventLines(1) })
      assert.equal(folder.status, 2)
      assert.match(folder.stderr, /^reams: folder is not a Reams store: it is a directory\. .*--store.*\n$/)
      writeFileSync(join(directory, 'notes.txt'), 'precious')
      const file = await runCli([...words, '--store', 'notes.txt'], { in: directory, input: eventLines(1) })
      assert.equal(file.status, 2)
      assert.match(file.stderr, /^reams: notes\.txt is not a Reams store: .*\n$/)
      assert.equal(statSync(join(directory, 'notes.txt')).size, 8)
      assert.deepEqual(readdirSync(directory).toSorted(), ['folder', 'notes.txt', 'tmp'])
    })

  it('a URL of another kind is refused, and not shown: it could hold a password', async (t) => {
    for (const store of ['postgress://me:secret@example.com/db', 'mysql://me:secret@example.com/db']) {
      const result = await runCli(['collections', '--store', store], { in: workDirectory(t) })
      assert.equal(result.status, 2)
      assert.match(
        result.stderr,
        /^reams: --store: A store is a path, or a URL that begins with postgres:\/\/, not with/,
      )
      assert.doesNotMatch(result.stderr, /secret/)
    }
  })

  it('a directory that does not exist is named', async (t) => {
    const words = ['import', 'x', '-', '--store', 'no/such/x.db']
    const result = await runCli(words, { in: workDirectory(t), input: eventLines(1) })
    assert.equal(result.status, 2)
    assert.equal(result.stderr, 'reams: There is no directory no/such for the store no/such/x.db. Make it first.\n')
  })

  it('in a directory that cannot be written to: a message, nothing else', async (t) => {
    const lack = lackOfOtherUser()
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    mkdirSync(join(directory, 'closed'))
    chmodSync(join(directory, 'closed'), 0o555)
    const result = await runCli(['import', 'x', '-', '--store', 'closed/x.db'], {
      in: directory,
      input: eventLines(1),
      ...withoutRights(),
    })
    assert.equal(result.status, 3, result.stderr)
    assert.match(result.stderr, /^reams: The store closed\/x\.db cannot be opened.*writable.*\n$/)
    assert.deepEqual(readdirSync(join(directory, 'closed')), [])
  })
})
