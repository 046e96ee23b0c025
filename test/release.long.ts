import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const VERSION = '98.76.54'

/** What people download. */
const MAX_DOWNLOAD_BYTES = 45_000_000

function release(...words: string[]) {
  return spawnSync(process.execPath, [join(ROOT, 'scripts/release.ts'), ...words], { cwd: ROOT, encoding: 'utf8' })
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' })
}

describe('a release', () => {
  const output = mkdtempSync(join(tmpdir(), 'reams-release-test-'))
  const read = (file: string) => readFileSync(join(output, file))
  after(() => rmSync(output, { recursive: true }))

  it('is made by a dry run up to publishing, and leaves the clone as it was', () => {
    const before = git('status', '--porcelain') + git('rev-parse', 'HEAD') + git('tag')
    const { status, stdout, stderr } = release('--dry-run', '--output', output, VERSION)
    assert.equal(status, 0, stderr)
    assert.match(stderr, /This was a dry run/)
    const lines = stdout.trimEnd().split('\n')
    assert.equal(lines.length, 3)
    assert.equal(read('SHA256SUMS').toString(), stdout)
    for (const [sum, file] of lines.map((line) => line.split('  ')))
      assert.equal(
        createHash('sha256')
          .update(read(file ?? ''))
          .digest('hex'),
        sum,
      )
    assert.equal(git('status', '--porcelain') + git('rev-parse', 'HEAD') + git('tag'), before)
  })

  it('has its version in the package, and a heading in the changelog', () => {
    const file = (path: string) =>
      execFileSync('tar', ['-xzOf', join(output, `reams-${VERSION}.tgz`), `package/${path}`], { encoding: 'utf8' })
    assert.equal(JSON.parse(file('package.json')).version, VERSION)
    assert.match(file('CHANGELOG.md'), /^## Unreleased\n\n## 98\.76\.54 \(\d{4}-\d\d-\d\d\)$/m)
    assert.match(file('README.md'), /reams-98\.76\.54\.tgz/)
    assert.match(file('docs/reference/reams.1'), /"reams 98\.76\.54"/)
  })

  it('lists the packages that come along, and no others', () => {
    const { components } = JSON.parse(read(`reams-${VERSION}.cdx.json`).toString())
    const names: string[] = components.map(({ name }: { name: string }) => name)
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    for (const name of ['reams', ...Object.keys(dependencies)]) assert.ok(names.includes(name), name)
    for (const name of ['typescript', 'esbuild', 'node', 'playwright-core']) {
      assert.ok(name in devDependencies)
      assert.ok(!names.includes(name), name)
    }
  })

  it('is a small download, which is the executable', () => {
    const name = `reams-${VERSION}-${process.platform}-${process.arch}.xz`
    const { length } = read(name)
    assert.ok(length <= MAX_DOWNLOAD_BYTES, `${length} bytes`)
    const program = join(output, 'reams')
    execFileSync('sh', ['-c', `xz -dc "$0" > "$1" && chmod 755 "$1"`, join(output, name), program])
    assert.equal(execFileSync(program, ['--version'], { encoding: 'utf8', env: {} }), `${VERSION}\n`)
  })

  it('is refused with what is no version, or one that is there already', (t) => {
    const { status, stderr } = release('--dry-run', '1.2')
    assert.equal(status, 1)
    assert.match(stderr, /^Usage: npm run release/)
    git('tag', 'v98.76.55')
    t.after(() => git('tag', '--delete', 'v98.76.55'))
    assert.match(release('--dry-run', '98.76.55').stderr, /There is a tag v98\.76\.55 already/)
  })
})
