import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { COMMANDS } from '../../src/cli/program.ts'
import { longFlag, SETTINGS } from '../../src/cli/settings.ts'
import { FISH, lackOf, ZSH } from '../faults/needs.ts'
import { refused, succeeds } from './directory.ts'
import { workDirectory } from './run-cli.ts'

const COMMAND_WORDS = new Set([...COMMANDS.map(({ name }) => name.replace(/ .*/, '')), 'help'])
const FILES = ['10:00.csv', 'events.ndjson', 'two words.csv']

/** What is typed before Tab, and all that the shell has to suggest for its last word. */
const CASES: readonly (readonly [typed: string, ...suggested: string[]])[] = [
  ['reams ', ...COMMAND_WORDS],
  ['reams tok', 'token'],
  ['reams nope '],
  ['reams token ', 'create', 'list', 'revoke'],
  ['reams help tok', 'token'],
  ['reams help token ', 'create', 'list', 'revoke'],
  ['reams help token c', 'create'],
  ['reams help token create '],
  ['reams help drop '],
  ['reams drop --', '--help', '--json', '--store', '--yes'],
  ['reams token list --j', '--json'],
  ['reams serve --', ...flagsOf('serve'), '--help'],
  ['reams drop token '],
  ['reams import --on-conflict ', 'fail', 'replace', 'skip'],
  ['reams import --key id --on-conflict s', 'skip'],
  ['reams check --format ', 'json', 'text'],
  ['reams export events --format=', 'csv', 'json', 'ndjson', 'tsv'],
  ['reams export events --format=n', 'ndjson'],
  ['reams completion ', 'bash', 'fish', 'zsh'],
  ['reams token create --name '],
  ['reams import '],
  ['reams import events ', ...FILES],
  ['reams import events events.ndjson '],
  ['reams import --key id events t', 'two words.csv'],
  ['reams push http://x.example/events e', 'events.ndjson'],
  ['reams serve events.ndjson ', ...FILES],
  ['reams serve events.ndjson:'],
  ['reams serve events.ndjson:e'],
  ['reams serve 10\\:0', '10:00.csv'],
  ['reams export events -o e', 'events.ndjson'],
  ['reams export events --store=e', 'events.ndjson'],
  ['reams export events > e', 'events.ndjson'],
  ['reams import events -- --'],
  ['reams import -- events e', 'events.ndjson'],
]

describe('completion', () => {
  for (const [where, set] of [
    ['bash', ''],
    ['bash that does not split words at = and :', `COMP_WORDBREAKS=$' \\t\\n><'`],
  ] as const)
    it(`suggests what fits, in a ${where}`, async (t) => {
      const home = await homeWith(t, 'bash', 'reams.bash')
      writeFileSync(join(home, 'rc'), `. '${home}/reams.bash'\n${BASH_KEYS}${set}\n`)
      const found = typeAll(home, ['bash', '--noprofile', '--rcfile', join(home, 'rc'), '-i'])
      // There, readline itself takes --store=e for the beginning of a name.
      if (set !== '') found.set('reams export events --store=e', ['events.ndjson'])
      assertSuggestions(found)
    })

  it('suggests what fits and says what it means, in a zsh', async (t) => {
    const lack = await lackOf([ZSH])
    if (lack !== undefined) return t.skip(lack)
    const home = await homeWith(t, 'zsh', 'functions/_reams')
    writeFileSync(join(home, '.zshrc'), ZSH_KEYS)
    const found = typeAll(home, ['zsh', '-d', '-i'])
    // Where no operand can follow, zsh suggests flags without being asked for them.
    const withoutFlags = (words: readonly string[]) => words.filter((word) => !word.startsWith('-'))
    for (const [typed, words] of found) if (typed.endsWith(' ')) found.set(typed, withoutFlags(words))
    assertSuggestions(found)
    const screen = type(home, ['zsh', '-d', '-i'], 'reams drop --\t\nreams token \t\n')
    assert.match(screen, /--yes +-- do not ask/)
    assert.match(screen, /revoke +-- stop accepting a token/)
  })

  it('suggests what fits and says what it means, in a fish', async (t) => {
    const lack = await lackOf([FISH])
    if (lack !== undefined) return t.skip(lack)
    const home = await homeWith(t, 'fish', 'fish/completions/reams.fish')
    const script = 'function reams; end; for line in $argv; complete -C $line; echo =; end'
    const { stdout, stderr } = runShell(home, ['fish', '-c', script, '--', ...CASES.map(([typed]) => typed)])
    assert.equal(stderr, '')
    const answers = stdout.split(/^=\n/m).map((answer) => answer.split('\n').slice(0, -1))
    const found = new Map(
      CASES.map(([typed], index) => [typed, (answers[index] ?? []).map((line) => line.replace(/\t.*/, ''))]),
    )
    assertSuggestions(found)
    assert.ok(answers.flat().includes('--yes\tdo not ask'))
    assert.ok(answers.flat().includes('revoke\tstop accepting a token'))
  })

  it('knows no flag that takes a value in one command and none in another', () => {
    const withValue = new Map<string, boolean>()
    for (const { flag, ...setting } of Object.values(SETTINGS)) {
      const name = longFlag({ flag })
      const takesValue = setting.kind.placeholder !== undefined
      assert.equal(withValue.get(name) ?? takesValue, takesValue, name)
      withValue.set(name, takesValue)
    }
  })

  it('of another shell is refused, exit status 2', async (t) => {
    await refused(
      workDirectory(t),
      'completion tcsh',
      2,
      'There is no completion for "tcsh": expected bash, zsh or fish.',
    )
  })
})

function flagsOf(command: string): string[] {
  const settings = COMMANDS.find(({ name }) => name === command)?.settings ?? []
  return settings.map((each) => longFlag(SETTINGS[each]))
}

/** A home directory that holds the script for a shell, and in `here` the files that can be completed. */
async function homeWith(t: TestContext, shell: string, path: string): Promise<string> {
  const home = workDirectory(t)
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), await succeeds(home, `completion ${shell}`))
  mkdirSync(join(home, 'here'))
  for (const file of FILES) writeFileSync(join(home, 'here', file), '')
  return home
}

// Ctrl-B puts all suggestions into the line, and Ctrl-F writes the line to a file.
const BASH_KEYS = `
bind '"\\C-b": insert-completions'
bind -x '"\\C-f": printf "%s\\n" "$READLINE_LINE" >> ~/lines'
reams() { :; }
`
const ZSH_KEYS = `
fpath=(~/functions $fpath)
autoload -Uz compinit && compinit -D -u
zstyle ':completion:all-matches:*' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert yes
zle -C all-matches complete-word _generic
bindkey '^B' all-matches
write-line() { print -r -- $BUFFER >> ~/lines }
zle -N write-line
bindkey '^F' write-line
reams() { :; }
`

/** Types every case into a shell, and returns what it suggested for each. */
function typeAll(home: string, shell: readonly string[]): Map<string, string[]> {
  const keys = CASES.map(([typed]) => `${typed}\u0002\u0006\n`).join('')
  const screen = type(home, shell, keys)
  const lines = readFileSync(join(home, 'lines'), 'utf8').split('\n')
  assert.equal(lines.length - 1, CASES.length, screen)
  return new Map(
    CASES.map(([typed], index) => {
      const last = typed.slice(typed.lastIndexOf(' ') + 1)
      const words = (lines[index] ?? '').slice(typed.length - last.length).match(/(?:\\.|[^\\ ])+/g) ?? []
      // Where nothing fits, what was typed stays.
      return [typed, words.map((word) => word.replaceAll('\\', '')).filter((word) => word !== last)]
    }),
  )
}

/** Starts a shell on a terminal, types into it, and returns what the terminal showed. */
function type(home: string, shell: readonly string[], keys: string): string {
  const isLinux = process.platform === 'linux'
  const terminal = isLinux ? ['script', '-qec', shell.join(' '), '/dev/null'] : ['script', '-q', '/dev/null', ...shell]
  return runShell(home, terminal, keys).stdout
}

function runShell(home: string, [program = '', ...words]: readonly string[], input = '') {
  return spawnSync(program, words, {
    cwd: join(home, 'here'),
    env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home, TERM: 'vt100', LC_ALL: 'C.UTF-8' },
    input,
    encoding: 'utf8',
    timeout: 60_000,
  })
}

/** `--format=csv` counts as csv, since bash leaves out the flag; and zsh can put a = behind a flag that takes a value. */
function assertSuggestions(found: ReadonlyMap<string, readonly string[]>): void {
  const sorted = (words: readonly string[] = []) => words.map((word) => word.replace(/^--[a-z-]+=(?=.)|=$/, '')).sort()
  for (const [typed, ...suggested] of CASES) assert.deepEqual(sorted(found.get(typed)), sorted(suggested), typed)
}
