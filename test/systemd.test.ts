import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'

const ROOT = join(import.meta.dirname, '..')

/** Every unit that a page shows, under the name that the text before it gives. */
function units(): [name: string, text: string][] {
  return globSync('docs/how-to/*.md', { cwd: ROOT }).flatMap((path) => {
    const page = readFileSync(join(ROOT, path), 'utf8')
    return [...page.matchAll(/`\/etc\/systemd\/system\/([\w.-]+)`(?:(?!```)[\s\S])*```ini\n([\s\S]*?)```/g)].map(
      ([, name = '', text = '']): [string, string] => [name, text],
    )
  })
}

describe('the systemd units of the documentation', () => {
  it('are what systemd takes, without a word', (t) => {
    assert.deepEqual(
      units()
        .map(([name]) => name)
        .toSorted(),
      ['reams-nightly.service', 'reams-nightly.timer', 'reams.service'],
    )
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
