import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { COMMANDS, createProgram } from '../../src/cli/program.ts'
import { SETTINGS } from '../../src/cli/settings.ts'
import { runInside, workDirectory } from './run-cli.ts'

describe('help', () => {
  it('alone, reams prints the help of all commands', async (t) => {
    const { status, stdout, stderr } = await runInside([], { in: workDirectory(t) })
    assert.deepEqual([status, stderr], [0, ''])
    for (const { name, summary } of COMMANDS.map((command) => command.family ?? command))
      assert.match(stdout, new RegExp(`^ {2}${name} +${summary}$`, 'm'))
    assert.match(stdout, /^Back up:\n {2}backup .*\n {2}restore .*\n\n/m)
    await assertExamples(stdout)
  })

  it('of a family lists its commands', async (t) => {
    const directory = workDirectory(t)
    const { status, stdout } = await runInside(['token', '--help'], { in: directory })
    assert.equal(status, 0)
    assert.ok(stdout.startsWith('Usage: reams token COMMAND [options]\n\nTokens let programs write'))
    await assertExamples(stdout)
    for (const { name, summary } of COMMANDS.filter(({ family }) => family?.name === 'token'))
      assert.match(stdout, new RegExp(`^ {2}${name.replace('token ', '')} +${summary}$`, 'm'))
    assert.deepEqual(await runInside(['token'], { in: directory }), { status: 2, stdout: '', stderr: stdout })
  })

  it('is printed by reams help too', async (t) => {
    const directory = workDirectory(t)
    for (const words of [[], ['drop'], ['token'], ['token', 'create']]) {
      const asked = await runInside(['help', ...words], { in: directory })
      assert.deepEqual(asked, await runInside([...words, '--help'], { in: directory }))
    }
  })

  it('of follow and unfollow names only the database that they support', async (t) => {
    for (const name of ['follow', 'unfollow']) {
      const { stdout } = await runInside([name, '--help'], { in: workDirectory(t) })
      assert.match(stdout, /^ {2}--from <database> +the database of the table: postgres:\/\/…$/m)
    }
    const { stdout } = await runInside(['follow', '--help'], { in: workDirectory(t) })
    assert.match(stdout, /PostgreSQL 15 and later can be followed; "reams import --replace" reads all of/)
  })

  for (const { name, settings, descriptions = {}, examples } of COMMANDS)
    it(`of ${name} shows each of its settings on one line, and its examples`, async (t) => {
      const { status, stdout } = await runInside([...name.split(' '), '--help'], { in: workDirectory(t) })
      assert.equal(status, 0)
      assert.ok(stdout.startsWith(`Usage: reams ${name}`))
      await assertExamples(stdout)
      const lines = stdout.split('\n')
      const hasLine = (start: string, end: string) =>
        lines.some((line) => line.startsWith(`  ${start} `) && line.includes(end))
      for (const each of settings) {
        const { flag, description } = SETTINGS[each]
        assert.ok(hasLine(flag, descriptions[each] ?? description), flag)
      }
      for (const { line, purpose } of examples) assert.ok(hasLine(line, purpose), line)
      const wrong = lines.filter((line) => /^ {12}/.test(line))
      assert.deepEqual(wrong, [], 'no description is broken')
    })

  it('the version is that of the package', async (t) => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal((await runInside(['--version'], { in: workDirectory(t) })).stdout, `${version}\n`)
  })
})

/** Help fits into 80 columns, ends with examples, and the program takes each of them. */
async function assertExamples(help: string): Promise<void> {
  const lines = help.split('\n')
  const wrong = lines.filter((line) => line.length > 80)
  assert.deepEqual(wrong, [])
  const first = lines.indexOf('Examples:') + 1
  const shown = lines.slice(first, lines.indexOf('', first))
  assert.ok(first > 0 && shown.length > 0, help)
  for (const line of shown) {
    const [, command = ''] = /^ {2}(?:.* \| )?reams (.*?)(?: \| .*| > .*)? {2,}\S.*$/.exec(line) ?? []
    let isTaken = false
    const program = createProgram(async () => {
      isTaken = true
    })
    const words = command.replaceAll("'", '').split(' ')
    await program.parseAsync(words, { from: 'user' }).catch((error) => assert.fail(`${line}: ${error.message}`))
    assert.ok(isTaken, line)
  }
}

describe('wrong usage', () => {
  const cases: [words: string, message: RegExp][] = [
    ['improt events x.csv', /^reams: unknown command 'improt'\n\(Did you mean import\?\)/],
    ['serve --prot 80', /^reams: unknown option '--prot'\n\(Did you mean --port\?\)/],
    ['verify --port 80', /^reams: unknown option '--port'/],
    ['pull http://x.example/a --live', /^reams: unknown option '--live'\n\(Did you mean --no-snapshot\?\)/],
    ['import', /^reams: missing required argument 'NAME'/],
    ['drop a b', /^reams: too many arguments for 'drop'/],
    ['token crate', /^reams: unknown command 'crate'\n\(Did you mean create\?\)/],
    ['token create --scop admin', /^reams: unknown option '--scop'\n\(Did you mean --scope\?\)/],
    ['token create ci', /^reams: too many arguments for 'create'/],
    ['help improt', /^reams: unknown command 'improt'\n\(Did you mean import\?\)/],
    ['help token crate', /^reams: unknown command 'crate'\n\(Did you mean create\?\)/],
    ['help token create ci', /^reams: 'create' has no command 'ci'/],
    ['serve --port', /^reams: option '--port <number>' argument missing/],
  ]
  it('says what is wrong and where to look, exit status 2', async (t) => {
    const directory = workDirectory(t)
    for (const [words, message] of cases) {
      const { status, stdout, stderr } = await runInside(words.split(' '), { in: directory })
      assert.deepEqual([status, stdout], [2, ''], words)
      assert.match(stderr, message)
      assert.match(stderr, /"reams (\w+ ){0,2}--help"/)
    }
  })
})
