import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { COMMANDS } from '../../src/cli/program.ts'
import { createProgram } from '../../src/cli/program.ts'
import { settingsOf } from '../../src/cli/settings.ts'
import { runCli, workDirectory } from './run-cli.ts'

describe('help', () => {
  it('alone, reams prints the help of all commands', async (t) => {
    const result = await runCli([], { in: workDirectory(t) })
    assert.equal(result.status, 0)
    assert.equal(result.stderr, '')
    for (const { name, summary } of COMMANDS.map((command) => command.family ?? command))
      assert.match(result.stdout, new RegExp(`^ {2}${name} +${summary}$`, 'm'))
    await assertExamples(result.stdout)
  })

  for (const family of new Set(COMMANDS.flatMap((command) => command.family ?? [])))
    it(`of ${family.name} lists its commands`, async (t) => {
      const result = await runCli([family.name, '--help'], { in: workDirectory(t) })
      assert.equal(result.status, 0)
      assert.ok(result.stdout.startsWith(`Usage: reams ${family.name} COMMAND [options]\n\n${family.description}\n`))
      await assertExamples(result.stdout)
      const own = COMMANDS.filter((command) => command.family === family)
      for (const { name, summary } of own) {
        const [first, last] = name.split(' ')
        assert.equal(first, family.name)
        assert.match(result.stdout, new RegExp(`^ {2}${last} +${summary}$`, 'm'))
      }
      const alone = await runCli([family.name], { in: workDirectory(t) })
      assert.deepEqual(alone, { status: 2, stdout: '', stderr: result.stdout })
      assert.equal((await runCli(['help', family.name], { in: workDirectory(t) })).stdout, result.stdout)
    })

  for (const command of COMMANDS)
    it(`of ${command.name} shows each of its settings on one line, and its examples`, async (t) => {
      const { status, stdout } = await runCli([...command.name.split(' '), '--help'], { in: workDirectory(t) })
      assert.equal(status, 0)
      const lines = stdout.split('\n')
      await assertExamples(stdout)
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

/** Help fits into 80 columns, ends with examples, and the program takes each of them. */
async function assertExamples(help: string): Promise<void> {
  const lines = help.split('\n')
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
  const first = lines.indexOf('Examples:') + 1
  const shown = lines.slice(first, lines.indexOf('', first))
  assert.ok(first > 0 && shown.length > 0, help)
  for (const line of shown) {
    const [, command = ''] = /^ {2}(?:.* \| )?reams (.*?)(?: \| .*| > .*)? {2,}\S.*$/.exec(line) ?? []
    await assertTaken(command.replaceAll("'", '').split(' '), line)
  }
}

/** Parses with the real program, which runs no command here. */
async function assertTaken(words: string[], line: string): Promise<void> {
  let taken = false
  const onCommand = async () => {
    taken = true
  }
  const program = createProgram({ version: '0', commands: COMMANDS, onCommand })
  await program.parseAsync(words, { from: 'user' }).catch((error) => assert.fail(`${line}: ${error.message}`))
  assert.ok(taken, line)
}

describe('wrong use', () => {
  const cases: [words: string[], message: RegExp][] = [
    [['improt', 'events', 'x.csv'], /^reams: unknown command 'improt'\n\(Did you mean import\?\)/],
    [['serve', '--prot', '80'], /^reams: unknown option '--prot'\n\(Did you mean --port\?\)/],
    [['check', '--colection', 'x'], /^reams: unknown option '--colection'\n\(Did you mean --collection\?\)/],
    [['verify', '--port', '80'], /^reams: unknown option '--port'/],
    [['import', 'events'], /^reams: missing required argument 'FILE'/],
    [['drop', 'a', 'b'], /^reams: too many arguments for 'drop'/],
    [['token', 'crate'], /^reams: unknown command 'crate'\n\(Did you mean create\?\)/],
    [['tokn', 'create'], /^reams: unknown command 'tokn'\n\(Did you mean token\?\)/],
    [['token', 'create', '--scop', 'admin'], /^reams: unknown option '--scop'\n\(Did you mean --scope\?\)/],
    [['token', 'create', 'ci'], /^reams: too many arguments for 'create'/],
    [['token', 'list', '--scope', 'admin'], /^reams: unknown option '--scope'/],
    [['token', 'revoke'], /^reams: missing required argument 'NAME'/],
    [['serve', '--port'], /^reams: option '--port <number>' argument missing/],
  ]
  for (const [words, message] of cases)
    it(`reams ${words.join(' ')}: says what is wrong and where to look, exit status 2`, async (t) => {
      const result = await runCli(words, { in: workDirectory(t) })
      assert.equal(result.status, 2)
      assert.match(result.stderr, message)
      assert.match(result.stderr, /"reams (\w+ ){0,2}--help"/)
      assert.equal(result.stdout, '')
    })
})
