import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { PAGES, readArguments } from '../scripts/release.ts'

const ROOT = join(import.meta.dirname, '..')

/** Words, and the sentence that refuses them. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  '1.2': /^"1\.2" is no version: it has to be like 1\.2\.3, or 1\.2\.3-rc\.1 before that is final\.$/,
  '01.2.3': /^"01\.2\.3" is no version/,
  'v1.2.3': /^"v1\.2\.3" is no version/,
  '1.0.0-rc.1..': /^"1\.0\.0-rc\.1\.\." is no version/,
  '1.0.0-rc_1': /^"1\.0\.0-rc_1" is no version/,
  '1.0.0-01': /^"1\.0\.0-01" is no version/,
  '1.0.0+build': /^"1\.0\.0\+build" is no version/,
  '1.2.3 4.5.6': /^There are 2 versions: name one\.\n\nUsage: npm run release/,
  '--foo': /^Unknown option '--foo'\.\n\nUsage: npm run release/,
  '--output': /^Option '--output <value>' argument missing\.\n\nUsage: npm run release/,
}

describe('a release', () => {
  it('knows every page that names the version', () => {
    const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
    const { version } = JSON.parse(read('package.json'))
    const texts = globSync(['*.md', 'docs/**/*.{md,1}', 'packaging/*', 'examples/*.*'], { cwd: ROOT })
    const pages = texts.filter((path) => path !== 'CHANGELOG.md' && read(path).includes(version))
    assert.deepEqual(pages.sort(), [...PAGES].sort())
  })

  it('is refused with words that name no version, in a sentence', () => {
    for (const [words, message] of Object.entries(REFUSED))
      assert.throws(() => readArguments(['--dry-run', ...words.split(' ')]), { message }, words)
    const script = join(ROOT, 'scripts/release.ts')
    const { status, stderr } = spawnSync(process.execPath, [script, '--dry-run', '1.2'], { encoding: 'utf8' })
    assert.deepEqual([status, stderr.endsWith(' before that is final.\n')], [1, true])
  })
})
