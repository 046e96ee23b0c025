/**
 * Makes a release in dist/VERSION/: the package, the executable, a bill of materials and their checksums. With --dry-run that is
 * all; else the version and the changelog are committed and tagged. It is made in a clone of the last commit, with the packages
 * of node_modules, if they are those of the lock file. To publish is left to a person, who is told how.
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..')

const USAGE = `Usage: npm run release -- [--dry-run] [--output DIRECTORY] [VERSION]

VERSION is that of package.json if none is given, DIRECTORY is dist/VERSION. With --dry-run nothing is committed or tagged.`

/** As semver.org has it, without what may follow a "+": npm drops that. */
const NUMBER = '(?:0|[1-9]\\d*)'
const WORD = `(?:${NUMBER}|\\d*[a-zA-Z-][\\da-zA-Z-]*)`
const SEMANTIC_VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?<before>-${WORD}(?:\\.${WORD})*)?$`)

/** What went wrong, in words. */
class Refused extends Error {
  readonly status: number
  constructor(message: string, status = 1) {
    super(message)
    this.status = status
  }
}

/** Aborted by a signal, so that nothing stays in the temporary directory. */
const interruption = new AbortController()

async function release(words: readonly string[]): Promise<void> {
  const { version, output, isDry } = readArguments(words)
  const isChanged = (await run('git', ['status', '--porcelain'], ROOT)) !== ''
  if (isChanged && !isDry) throw new Refused('There are changes that are not committed. Commit them, then try again.')
  if (isChanged) say('There are changes that are not committed: they are left out.')
  if ((await run('git', ['tag', '--list', `v${version}`], ROOT)) !== '')
    throw new Refused(`There is a tag v${version} already: name another version.`)
  mkdirSync(output, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'reams-release-'))
  try {
    const clone = join(work, 'clone')
    const quietly = ['-c', 'advice.detachedHead=false']
    await run('git', [...quietly, 'clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone], ROOT)
    checkInstalled(clone)
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    await setVersion(clone, version)
    const made = join(work, 'made')
    mkdirSync(made)
    const files = await make(clone, version, made)
    const sums = files.map((file) => `${sumOf(join(made, file))}  ${file}\n`).join('')
    writeFileSync(join(made, 'SHA256SUMS'), sums)
    cpSync(made, output, { recursive: true })
    process.stdout.write(sums)
    if (!isDry) await commit(clone, version)
    say(
      isDry ? 'This was a dry run: nothing is committed, tagged or published.' : `Committed and tagged as v${version}.`,
    )
    // npm would give "latest" to a version that is there to be tried.
    const publish = SEMANTIC_VERSION.exec(version)?.groups?.['before'] ? 'npm publish --tag next' : 'npm publish'
    say(`To publish: git push --follow-tags && ${publish} ${join(output, `reams-${version}.tgz`)}`)
  } finally {
    rmSync(work, { recursive: true })
  }
}

/** Throws a sentence where they are none of its own. */
export function readArguments(words: readonly string[]) {
  const { values, positionals } = parsed(words)
  const [version = packageOf(ROOT).version, ...others] = positionals
  if (others.length > 0) throw new Refused(`There are ${positionals.length} versions: name one.\n\n${USAGE}`)
  if (!SEMANTIC_VERSION.test(version))
    throw new Refused(`"${version}" is no version: it has to be like 1.2.3, or 1.2.3-rc.1 before that is final.`)
  return { version, output: resolve(values.output ?? join(ROOT, 'dist', version)), isDry: values['dry-run'] }
}

function parsed(args: readonly string[]) {
  const options = { 'dry-run': { type: 'boolean', default: false }, output: { type: 'string' } } as const
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ')
    throw new Refused(`${sentence}.\n\n${USAGE}`)
  }
}

/** The executable holds what is installed, so it has to be what the lock file says. */
function checkInstalled(clone: string): void {
  const installed = lockedIn(join(ROOT, 'node_modules/.package-lock.json')).packages
  for (const [path, { version, ...wanted }] of Object.entries(lockedIn(join(clone, 'package-lock.json')).packages)) {
    const found = installed[path]
    const mayLack = path === '' || wanted.optional === true || wanted.devOptional === true
    if (found === undefined ? !mayLack : found.version !== version)
      throw new Refused(
        `${path} is ${found?.version ?? 'missing'}, package-lock.json of the last commit has ${version}: run npm ci, then try again.`,
      )
  }
}

/** Answers with the names of what was made. */
async function make(clone: string, version: string, made: string): Promise<string[]> {
  const node = (...words: string[]) => run(process.execPath, words, clone)
  say(`Building reams ${version}`)
  await node('scripts/build.ts')
  await pack(clone, made)
  const tarball = `reams-${version}.tgz`
  // Late, because it loads a compiler.
  const { checkPackage } = await import('./check-package.ts')
  const flaws = await checkPackage(join(made, tarball))
  if (flaws.length > 0) throw new Refused(`The package is not as it should be:\n${flaws.join('\n')}`)
  say('Building the executable, and compressing it')
  const executable = (await node('scripts/build-executable.ts')).trim()
  if ((await run(executable, ['--version'], clone)).trim() !== version)
    throw new Refused('The executable has another version.')
  await run('xz', ['--threads=0', executable], clone)
  const compressed = `${basename(executable)}.xz`
  cpSync(`${executable}.xz`, join(made, compressed))
  const bill = `reams-${version}.cdx.json`
  writeFileSync(join(made, bill), await billOfMaterials(clone, compressed))
  return [tarball, compressed, bill]
}

/** Without the script that sets up a clone: npm warns about it wherever the package is installed from a file. */
async function pack(clone: string, made: string): Promise<void> {
  const path = join(clone, 'package.json')
  const whole = readFileSync(path, 'utf8')
  await npm(['pkg', 'delete', 'scripts.prepare'], clone)
  // Its other scripts would set up the clone anew.
  await npm(['pack', '--ignore-scripts', '--pack-destination', made], clone)
  writeFileSync(path, whole)
}

/** Of the packages of the lock file, but those for tools alone: npm would also leave out what both tools and Reams need. */
async function billOfMaterials(clone: string, executable: string): Promise<string> {
  const directory = join(clone, 'bill')
  mkdirSync(directory)
  const lock = lockedIn(join(clone, 'package-lock.json'))
  const packages = Object.entries(lock.packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([path, each]) => [path, { ...each, devDependencies: undefined }])
  write(join(directory, 'package-lock.json'), { ...lock, packages: Object.fromEntries(packages) })
  write(join(directory, 'package.json'), { ...packageOf(clone), devDependencies: undefined })
  const bill = JSON.parse(await npm(['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], directory))
  // npm takes the name of the directory.
  const subject = Object.assign(bill.metadata.component, { name: 'reams' })
  const node = nodeComponent(executable)
  bill.components.push(node)
  bill.dependencies.find(({ ref }: { ref: string }) => ref === subject['bom-ref']).dependsOn.push(node['bom-ref'])
  bill.dependencies.push({ ref: node['bom-ref'], dependsOn: [] })
  return `${JSON.stringify(bill, null, 2)}\n`
}

function nodeComponent(executable: string) {
  const version = process.versions.node
  return {
    'bom-ref': `nodejs@${version}`,
    type: 'platform',
    name: 'Node.js',
    version,
    description: `Only in ${executable}: the package runs on the Node.js that its user has.`,
    licenses: [{ license: { id: 'MIT' } }],
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${version}`,
  }
}

/** Pages that name the version. A test tells if there are others. */
export const PAGES = [
  'README.md',
  'docs/how-to/operate.md',
  'docs/how-to/systemd.md',
  'docs/tutorial/first-collection.md',
  'docs/reference/reams.1',
]

/** Everywhere, and as the heading of what the changelog has as not released. */
async function setVersion(clone: string, version: string): Promise<void> {
  const { version: before } = packageOf(clone)
  await npm(['version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts'], clone)
  for (const page of PAGES) rewrite(join(clone, page), (page) => page.replaceAll(before, version))
  const today = new Date().toISOString().slice(0, 10)
  rewrite(join(clone, 'CHANGELOG.md'), (page) => {
    const [, news = ''] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(page) ?? []
    if (news.trim() === '') throw new Refused('CHANGELOG.md has nothing under "## Unreleased": say what is new.')
    return page.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} (${today})`)
  })
}

function rewrite(path: string, change: (page: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

async function commit(clone: string, version: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json', 'CHANGELOG.md', ...PAGES])
    cpSync(join(clone, file), join(ROOT, file))
  await run('git', ['commit', '--quiet', '--all', '--message', `Release ${version}`], ROOT)
  await run('git', ['tag', '--annotate', `v${version}`, '--message', `Reams ${version}`], ROOT)
}

interface Locked {
  readonly version: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
}

function lockedIn(file: string): { readonly packages: Readonly<Record<string, Locked>> } {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function packageOf(root: string): { readonly version: string } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

function write(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value))
}

function sumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Without its notices: those of npm pack are a line for each file. */
function npm(words: readonly string[], cwd: string): Promise<string> {
  return run('npm', [...words, '--loglevel=error'], cwd)
}

/** Answers with what it printed. A signal ends it with all that it started, hence the group of its own. */
async function run(program: string, words: readonly string[], cwd: string): Promise<string> {
  interruption.signal.throwIfAborted()
  const child = spawn(program, words, { cwd, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const end = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGTERM')
  }
  interruption.signal.addEventListener('abort', end)
  try {
    const [printed, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
    interruption.signal.throwIfAborted()
    if (status !== 0) throw new Refused(`This failed: ${program} ${words.join(' ')}`)
    return printed
  } finally {
    interruption.signal.removeEventListener('abort', end)
  }
}

function say(message: string): void {
  process.stderr.write(`${message}\n`)
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      interruption.abort(new Refused(`Ended by ${signal}.`, 128 + constants.signals[signal]))
    })
  try {
    await release(process.argv.slice(2))
  } catch (error) {
    // A program or a file that is not there says so itself.
    if (!(error instanceof Refused || (error instanceof Error && 'syscall' in error))) throw error
    say(error.message)
    process.exitCode = error instanceof Refused ? error.status : 1
  }
}

if (import.meta.main) await main()
