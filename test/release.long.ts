import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it, type TestContext } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'

const ROOT = join(import.meta.dirname, '..')
const VERSION = '98.76.54-rc.1'
const EXECUTABLE = `reams-${VERSION}-${process.platform}-${process.arch}`

/** What people download. */
const MAX_DOWNLOAD_BYTES = 45_000_000

function release(...words: string[]) {
  return spawnSync(process.execPath, [join(ROOT, 'scripts/release.ts'), ...words], { cwd: ROOT, encoding: 'utf8' })
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' })
}

interface Locked {
  version: string
  dev?: boolean
}

function readLock(file: string): { packages: Record<string, Locked> } {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Tools of others may keep something there. */
function leftIn(temporary: string): string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('reams-'))
}

/** A clone in which a test may break something, and what starts a release there, with a temporary directory of its own. */
function otherClone(t: TestContext) {
  const directory = workDirectory(t)
  const [clone, temporary] = [join(directory, 'clone'), join(directory, 'temporary')]
  git('clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone)
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  cpSync(join(ROOT, 'scripts'), join(clone, 'scripts'), { recursive: true })
  mkdirSync(temporary)
  const start = () =>
    spawn(process.execPath, ['scripts/release.ts', '--dry-run', VERSION], {
      cwd: clone,
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  return { clone, temporary, start }
}

describe('a release', () => {
  const output = mkdtempSync(join(tmpdir(), 'reams-release-test-'))
  const read = (file: string) => readFileSync(join(output, file))
  after(() => rmSync(output, { recursive: true }))

  it('is made by a dry run up to publishing, and leaves the clone as it was', () => {
    const before = git('status', '--porcelain') + git('rev-parse', 'HEAD') + git('tag')
    writeFileSync(join(output, EXECUTABLE), 'built before')
    const { status, stdout, stderr } = release('--dry-run', '--output', relative(ROOT, output), VERSION)
    assert.equal(status, 0, stderr)
    assert.match(stderr, /This was a dry run/)
    assert.ok(stderr.includes(`&& npm publish --tag next ${join(output, `reams-${VERSION}.tgz`)}\n`), stderr)
    assert.ok(stderr.split('\n').length < 10, stderr)
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
    assert.equal(read(EXECUTABLE).toString(), 'built before')
    const others = readdirSync(output).filter((name) => name !== EXECUTABLE)
    assert.deepEqual(others.sort(), ['SHA256SUMS', ...lines.map((line) => line.split('  ')[1] ?? '')].sort())
  })

  it('has its version in the package, and a heading in the changelog', () => {
    const file = (path: string) =>
      execFileSync('tar', ['-xzOf', join(output, `reams-${VERSION}.tgz`), `package/${path}`], { encoding: 'utf8' })
    assert.equal(JSON.parse(file('package.json')).version, VERSION)
    assert.match(file('CHANGELOG.md'), /^## Unreleased\n\n## 98\.76\.54-rc\.1 \(\d{4}-\d\d-\d\d\)$/m)
    assert.ok(!('prepare' in JSON.parse(file('package.json')).scripts), 'npm would ask whether it may run it')
    assert.match(file('README.md'), /reams-98\.76\.54-rc\.1\.tgz/)
    assert.match(file('docs/reference/reams.1'), /"reams 98\.76\.54-rc\.1"/)
  })

  it('lists what the executable holds: the packages of the lock file that are not for tools, and Node.js', () => {
    const text = read(`reams-${VERSION}.cdx.json`).toString()
    const { components, dependencies, metadata } = JSON.parse(text)
    const { name, version, purl } = metadata.component
    assert.deepEqual([name, version, purl], ['reams', VERSION, `pkg:npm/reams@${VERSION}`])
    assert.doesNotMatch(text, /file:|reams-release/)
    const locked = Object.entries(readLock(join(ROOT, 'package-lock.json')).packages)
      .filter(([path, { dev }]) => path !== '' && dev !== true)
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`)
    const listed = components.map((each: { name: string; version: string }) => `${each.name} ${each.version}`)
    assert.deepEqual(listed.sort(), [...new Set(locked), `Node.js ${process.versions.node}`].sort())
    const { description } = components.find((each: { name: string }) => each.name === 'Node.js')
    assert.match(description, new RegExp(`^Only in ${EXECUTABLE}\\.xz:`))
    const references = [metadata.component, ...components].map((each) => each['bom-ref']).sort()
    assert.deepEqual(dependencies.map(({ ref }: { ref: string }) => ref).sort(), references)
  })

  it('is a small download, which is the executable', () => {
    const name = `${EXECUTABLE}.xz`
    const { length } = read(name)
    assert.ok(length <= MAX_DOWNLOAD_BYTES, `${length} bytes`)
    const program = join(output, 'reams')
    execFileSync('sh', ['-c', `xz -dc "$0" > "$1" && chmod 755 "$1"`, join(output, name), program])
    assert.equal(execFileSync(program, ['--version'], { encoding: 'utf8', env: {} }), `${VERSION}\n`)
  })

  it('is refused with a version that is there already', (t) => {
    git('tag', 'v98.76.55')
    t.after(() => git('tag', '--delete', 'v98.76.55'))
    assert.match(release('--dry-run', '98.76.55').stderr, /There is a tag v98\.76\.55 already/)
  })

  it('is refused with other packages than those of the lock file', async (t) => {
    const { clone, temporary, start } = otherClone(t)
    const file = join(clone, 'package-lock.json')
    const lock = readLock(file)
    const pino = lock.packages['node_modules/pino']
    assert.ok(pino)
    const { version } = pino
    pino.version = '1.2.3'
    writeFileSync(file, JSON.stringify(lock))
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
    git('-C', clone, ...identity, 'commit', '--quiet', '--all', '--message', 'Another lock file')
    const said = await text(start().stderr)
    const sentence = `node_modules/pino is ${version}, package-lock.json of the last commit has 1.2.3: run npm ci, then try again.\n`
    assert.ok(said.endsWith(sentence), said)
    assert.deepEqual(leftIn(temporary), [])
  })

  it('leaves nothing behind where a signal ends it', async (t) => {
    const { temporary, start } = otherClone(t)
    const child = start()
    const ended = once(child, 'close')
    let said = ''
    for await (const chunk of child.stderr) {
      said += chunk
      if (/^Building reams/m.test(String(chunk))) child.kill('SIGTERM')
    }
    assert.deepEqual(await ended, [143, null], said)
    assert.match(said, /Ended by SIGTERM\.\n$/)
    assert.deepEqual(leftIn(temporary), [])
  })
})
