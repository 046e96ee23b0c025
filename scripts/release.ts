/**
 * Makes a release in dist/: the package, the executable, a bill of materials and their checksums. With --dry-run that is all;
 * else the version and the changelog are committed and tagged. What is made comes from a clone of the last commit, so that
 * nothing else gets into it. To publish is left to a person, who is told how.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkPackage } from './check-package.ts'

const ROOT = join(import.meta.dirname, '..')

const USAGE = `Usage: npm run release -- [--dry-run] [--output DIRECTORY] [VERSION]

VERSION is that of package.json if none is given. With --dry-run nothing is committed or tagged.`

/** What went wrong, in words. */
class Refused extends Error {}

async function release(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      output: { type: 'string', default: join(ROOT, 'dist') },
    },
  })
  const { output, 'dry-run': isDry } = values
  const version = positionals[0] ?? packageOf(ROOT).version
  if (positionals.length > 1 || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new Refused(USAGE)
  const isChanged = run('git', ['status', '--porcelain'], ROOT) !== ''
  if (isChanged && !isDry) throw new Refused('There are changes that are not committed. Commit them, then try again.')
  if (isChanged) say('There are changes that are not committed: they are left out.')
  if (run('git', ['tag', '--list', `v${version}`], ROOT) !== '')
    throw new Refused(`There is a tag v${version} already.`)
  const clone = mkdtempSync(join(tmpdir(), 'reams-release-'))
  try {
    run('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone], ROOT)
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    setVersion(clone, version)
    mkdirSync(output, { recursive: true })
    const files = await make(clone, version, output)
    const sums = files.map((file) => `${sumOf(join(output, file))}  ${file}\n`).join('')
    writeFileSync(join(output, 'SHA256SUMS'), sums)
    process.stdout.write(sums)
    if (!isDry) commit(clone, version)
    say(
      isDry ? 'This was a dry run: nothing is committed, tagged or published.' : `Committed and tagged as v${version}.`,
    )
    say(`To publish: git push --follow-tags && npm publish ${join(output, `reams-${version}.tgz`)}`)
  } finally {
    rmSync(clone, { recursive: true })
  }
}

/** Answers with the names of what was made. */
async function make(clone: string, version: string, output: string): Promise<string[]> {
  const node = (...words: string[]) => run(process.execPath, words, clone)
  say(`Building reams ${version}`)
  node('scripts/build.ts')
  // Its own scripts would set up the clone anew.
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', output], clone)
  const tarball = `reams-${version}.tgz`
  const flaws = await checkPackage(join(output, tarball))
  if (flaws.length > 0) throw new Refused(`The package is not as it should be:\n${flaws.join('\n')}`)
  const bill = `reams-${version}.cdx.json`
  writeFileSync(join(output, bill), billOfMaterials(join(output, tarball)))
  say('Building the executable, and compressing it')
  const executable = node('scripts/build-executable.ts').trim()
  if (run(executable, ['--version'], clone).trim() !== version) throw new Refused('The executable has another version.')
  const compressed = `${basename(executable)}.xz`
  cpSync(executable, join(output, basename(executable)))
  run('xz', ['--force', '--keep', '--threads=0', basename(executable)], output)
  rmSync(join(output, basename(executable)))
  return [tarball, compressed, bill]
}

/** Of the package as it is installed: in a clone npm leaves out what tools need as well. */
function billOfMaterials(tarball: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'reams-release-'))
  try {
    writeFileSync(join(directory, 'package.json'), '{"name":"installed","version":"1.0.0","private":true}')
    run('npm', ['install', '--silent', '--ignore-scripts', '--no-audit', tarball], directory)
    return run('npm', ['sbom', '--sbom-format', 'cyclonedx'], directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Pages that name the version. A test tells if there are others. */
const PAGES = ['README.md', 'docs/tutorial/first-collection.md', 'docs/reference/reams.1']

/** Everywhere, and as the heading of what the changelog has as not released. */
function setVersion(clone: string, version: string): void {
  const { version: before } = packageOf(clone)
  run('npm', ['version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts'], clone)
  for (const page of PAGES) rewrite(join(clone, page), (text) => text.replaceAll(before, version))
  const today = new Date().toISOString().slice(0, 10)
  rewrite(join(clone, 'CHANGELOG.md'), (text) => {
    const [, news = ''] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(text) ?? []
    if (news.trim() === '') throw new Refused('CHANGELOG.md has nothing under "## Unreleased": say what is new.')
    return text.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} (${today})`)
  })
}

function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

function commit(clone: string, version: string): void {
  for (const file of ['package.json', 'package-lock.json', 'CHANGELOG.md', ...PAGES])
    cpSync(join(clone, file), join(ROOT, file))
  run('git', ['commit', '--quiet', '--all', '--message', `Release ${version}`], ROOT)
  run('git', ['tag', '--annotate', `v${version}`, '--message', `Reams ${version}`], ROOT)
}

function packageOf(root: string): { readonly version: string } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

function sumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Answers with what it printed. */
function run(program: string, words: readonly string[], cwd: string): string {
  return execFileSync(program, words, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  })
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

try {
  await release()
} catch (error) {
  if (!(error instanceof Refused)) throw error
  say(error.message)
  process.exitCode = 1
}
