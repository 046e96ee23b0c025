// Installs the packages of the lock file, once for each lock file, and bundles the script of the explorer when its source has
// changed. Plain JavaScript, because it also runs under an old Node.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stamp = join(root, 'node_modules', '.reams-setup')
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex')

const hasNode = existsSync(join(root, 'node_modules', '.bin', 'node'))
const hasStamp = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
if (!hasNode || !(hasStamp || isInstalledByHand())) install()
if (isBundleOld()) bundle()

/** npm writes a lock file of its own at the end of an install: after ours, if it was `npm ci` or `npm install`. */
function isInstalledByHand() {
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false })
  return installed !== undefined && installed.mtimeMs > statSync(join(root, 'package-lock.json')).mtimeMs
}

function install() {
  process.stderr.write('Installing the packages, once …\n')
  const npm = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32',
  })
  if (npm.status !== 0) fail('npm ci failed: see its message above. It needs npm and its registry.')
  if (!existsSync(join(root, 'node_modules', '.bin', 'node')))
    fail('npm did not install the package "node". Allow install scripts (npm config get ignore-scripts) and try again.')
  writeFileSync(stamp, wanted)
}

/** What the script is made of lies in these directories. */
function isBundleOld() {
  const built = statSync(join(root, 'src/explorer/built/explorer.js'), { throwIfNoEntry: false })
  if (built === undefined) return true
  const sources = ['src/explorer/browser', 'src/client', 'src/contract', 'src/items'].flatMap((directory) =>
    readdirSync(join(root, directory)).map((name) => join(root, directory, name)),
  )
  return sources.some((path) => statSync(path).mtimeMs > built.mtimeMs)
}

function bundle() {
  const node = join(root, 'node_modules', '.bin', 'node')
  const script = join(root, 'scripts', 'build-explorer.ts')
  const { status } = spawnSync(node, [script], { stdio: ['ignore', process.stderr, process.stderr] })
  if (status !== 0) fail('the script of the explorer could not be bundled: see the message above.')
}

function fail(message) {
  process.stderr.write(`reams: ${message}\n`)
  process.exit(3)
}
