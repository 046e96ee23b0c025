// Installs the packages of the lock file, once for each lock file, and builds when the source has changed: the explorer's
// script, and the package. Plain JavaScript, because it also runs under an old Node.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stamp = join(root, 'node_modules', '.reams-setup')
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex')

// `npm ci` below runs this script again, as `prepare`.
if (process.env.REAMS_SETUP === '1') process.exit()
const hasNode = existsSync(join(root, 'node_modules', '.bin', 'node'))
const hasStamp = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
if (!hasNode || !(hasStamp || isInstalledByHand())) install()
const built = join(root, 'node_modules', '.reams-built')
const source = sourceState()
if (!isBuilt()) build()

/** npm writes a lock file of its own at the end of an install: after ours, if it was `npm ci` or `npm install`. */
function isInstalledByHand() {
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false })
  return installed !== undefined && installed.mtimeMs > statSync(join(root, 'package-lock.json')).mtimeMs
}

function install() {
  // npm would empty it, for everybody who shares it.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink())
    fail('node_modules is a link to packages that do not fit: remove the link, and start again.')
  process.stderr.write('Installing the packages, once …\n')
  const npm = spawnSync('npm', ['ci', '--include=dev', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    env: { ...process.env, REAMS_SETUP: '1' },
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32',
  })
  if (npm.status !== 0) fail('npm ci failed: see its message above. It needs npm and its registry.')
  if (!existsSync(join(root, 'node_modules', '.bin', 'node')))
    fail('npm did not install the package "node". Allow install scripts (npm config get ignore-scripts) and try again.')
  writeFileSync(stamp, wanted)
}

/** Tells one state of the source from another, by the names, sizes and times of its files. */
function sourceState() {
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => !path.includes(join('explorer', 'built')))
  const lines = files.sort().map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`)
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

function isBuilt() {
  const results = ['src/explorer/built/explorer.js', 'lib/index.js'].map((path) => join(root, path))
  return results.every(existsSync) && existsSync(built) && readFileSync(built, 'utf8') === source
}

function build() {
  const node = join(root, 'node_modules', '.bin', 'node')
  const script = join(root, 'scripts', 'build.ts')
  const { status } = spawnSync(node, [script], { stdio: ['ignore', process.stderr, process.stderr] })
  if (status !== 0) fail('the build failed: see the message above.')
  writeFileSync(built, source)
}

function fail(message) {
  process.stderr.write(`reams: ${message}\n`)
  process.exit(3)
}
