import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { COMMANDS } from '../../src/cli/commands.ts'
import { settingsOf } from '../../src/cli/settings.ts'
import { runCli, workDirectory } from './run-cli.ts'

describe('help', () => {
  it('alone, reams prints the help of all commands', async (t) => {
    const result = await runCli([], { in: workDirectory(t) })
    assert.equal(result.status, 0)
    assert.equal(result.stderr, '')
    for (const { name, summary } of COMMANDS) assert.match(result.stdout, new RegExp(`^ {2}${name} +${summary}$`, 'm'))
  })

  for (const command of COMMANDS)
    it(`of ${command.name} shows each of its settings on one line, and its examples`, async (t) => {
      const { status, stdout } = await runCli([command.name, '--help'], { in: workDirectory(t) })
      assert.equal(status, 0)
      const lines = stdout.split('\n')
      assert.deepEqual(
        lines.filter((line) => line.length > 80),
        [],
      )
      assert.ok(stdout.startsWith(`Usage: reams ${command.name}`))
      for (const [, { flag, description }] of settingsOf(command.name))
        assert.ok(
          lines.some((line) => line.startsWith(`  ${flag} `) && line.includes(description)),
          flag,
        )
      assert.ok(command.examples.length > 0)
      for (const { line, purpose } of command.examples)
        assert.ok(
          lines.some((shown) => shown.startsWith(`  ${line} `) && shown.endsWith(purpose)),
          line,
        )
    })

  it('the version is that of the package', async (t) => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal((await runCli(['--version'], { in: workDirectory(t) })).stdout, `${version}\n`)
  })
})

describe('wrong use', () => {
  const cases: [words: string[], message: RegExp][] = [
    [['improt', 'events', 'x.csv'], /^reams: unknown command 'improt'\n\(Did you mean import\?\)/],
    [['serve', '--prot', '80'], /^reams: unknown option '--prot'\n\(Did you mean --port\?\)/],
    [['check', '--colection', 'x'], /^reams: unknown option '--colection'\n\(Did you mean --collection\?\)/],
    [['verify', '--port', '80'], /^reams: unknown option '--port'/],
    [['import', 'events'], /^reams: missing required argument 'FILE'/],
    [['drop', 'a', 'b'], /^reams: too many arguments for 'drop'/],
    [['serve', '--port'], /^reams: option '--port <number>' argument missing/],
  ]
  for (const [words, message] of cases)
    it(`reams ${words.join(' ')}: says what is wrong and where to look, exit status 2`, async (t) => {
      const result = await runCli(words, { in: workDirectory(t) })
      assert.equal(result.status, 2)
      assert.match(result.stderr, message)
      assert.match(result.stderr, /"reams (\w+ )?--help"/)
      assert.equal(result.stdout, '')
    })
})
