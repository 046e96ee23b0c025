import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'
import { fencesOf } from './markdown.ts'

const ROOT = join(import.meta.dirname, '..')

/** Every unit that a page shows, under the name that the text before it gives, and those that are files. */
function units(): [name: string, text: string][] {
  const files = globSync('packaging/*.{service,timer}', { cwd: ROOT }).map((path): [string, string] => [
    basename(path),
    readFileSync(join(ROOT, path), 'utf8'),
  ])
  const shown = globSync('docs/how-to/*.md', { cwd: ROOT }).flatMap((path) => {
    const page = readFileSync(join(ROOT, path), 'utf8')
    return [...page.matchAll(/`\/etc\/systemd\/system\/([\w.-]+)`(?:(?!```)[\s\S])*```ini\n([\s\S]*?)```/g)].map(
      ([, name = '', text = '']): [string, string] => [name, text],
    )
  })
  return [...files, ...shown]
}

describe('the systemd units', () => {
  it('are what systemd takes, without a word', (t) => {
    const names = units().map(([name]) => name)
    assert.deepEqual(names.toSorted(), [
      'reams-backup.service',
      'reams-backup.timer',
      'reams-nightly.service',
      'reams-nightly.timer',
      'reams.service',
      'reams@.service',
    ])
    if (spawnSync('systemd-analyze', ['--version']).status !== 0)
      return t.skip('systemd-analyze is missing, which checks units')
    const directory = workDirectory(t)
    const files = units().map(([name, text]) => {
      const file = join(directory, name)
      // systemd looks whether the program is there.
      writeFileSync(file, text.replaceAll('/opt/reams/', `${ROOT}/`))
      return file
    })
    // It exits with 0 for a key that it does not know, and only says so.
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' })
    assert.deepEqual({ status, said: stdout + stderr }, { status: 0, said: '' })
  })
})

describe('the unit with instances', () => {
  it('is shut in like the one that the page shows', () => {
    const [one = '', instances = ''] = ['reams.service', 'reams@.service'].map(
      (name) => new Map(units()).get(name)?.match(/^NoNewPrivileges[\s\S]*/m)?.[0],
    )
    assert.ok(one.length > 500)
    assert.equal(instances, one)
  })
})

describe('the pages about services', () => {
  it('install the executable of this version, and run nothing from a clone', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const line = `install -D --mode 755 reams-${version}-linux-x64 /opt/reams/bin/reams`
    for (const name of ['operate.md', 'systemd.md', 'container.md']) {
      const fences = fencesOf(readFileSync(join(ROOT, 'docs/how-to', name), 'utf8'))
      const lines = fences.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'))
      const installs = lines.filter((each) => each.startsWith('install '))
      // Once to install it, once to upgrade.
      assert.deepEqual(installs, name === 'container.md' ? [] : [line, line], name)
      const fromClone = fences.filter(({ text }) => /\bgit\b|npm (--prefix \S+ )?ci\b|node_modules/.test(text))
      assert.deepEqual(fromClone, [], name)
    }
  })
})
