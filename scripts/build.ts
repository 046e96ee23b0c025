/**
 * Builds the package into dist/, or into the new directory that is given: `lib/` holds src/ as JavaScript with its
 * declarations, and a package.json of its own points there.
 */

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { buildExplorer } from './build-explorer.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'src')
const DEFAULT_TARGET = join(ROOT, 'dist')
const TARGET = resolve(process.argv[2] ?? DEFAULT_TARGET)
const LIBRARY = join(TARGET, 'lib')
const LAUNCHER = 'bin/reams.js'

/** What the package takes over from the clone's package.json as it is. */
const SHARED_FIELDS = ['name', 'version', 'description', 'license', 'type', 'engines', 'dependencies']

interface Manifest {
  readonly exports: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

// Only what this script made may be removed.
if (TARGET === DEFAULT_TARGET) rmSync(TARGET, { recursive: true, force: true })
else if (existsSync(TARGET)) throw new Error(`${TARGET} is there already. Name a directory that is not.`)
compile()
for (const file of globSync('**/*.sql', { cwd: SOURCE })) cpSync(join(SOURCE, file), join(LIBRARY, file))
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(ROOT, file), join(TARGET, file))
buildExplorer(join(LIBRARY, 'explorer/built'))
writeLauncher(join(TARGET, LAUNCHER))
writeManifest()

function compile(): void {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const project = join(ROOT, 'scripts/build.tsconfig.json')
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', LIBRARY], { stdio: 'inherit' })
}

/** The command: says so on a Node that is too old, instead of failing on the first thing that this one lacks. */
function writeLauncher(path: string): void {
  mkdirSync(dirname(path))
  writeFileSync(
    path,
    `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write('reams: This is Node.js ' + process.versions.node + '; Reams needs 24 or newer.\\n')
  process.exit(3)
}
await import('../lib/cli/main.js')
`,
  )
  chmodSync(path, 0o755)
}

function writeManifest(): void {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const shared = Object.fromEntries(SHARED_FIELDS.map((field) => [field, manifest[field]]))
  const exports = Object.fromEntries(Object.entries(manifest.exports).map(([name, path]) => [name, builtFrom(path)]))
  const published = { ...shared, bin: { reams: LAUNCHER }, exports }
  writeFileSync(join(TARGET, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
}

/** Where the build puts a file of src/: its types, and the code. */
function builtFrom(path: string): { types: string; default: string } {
  const stem = path.replace(/^\.\/src\//, './lib/').replace(/\.ts$/, '')
  return { types: `${stem}.d.ts`, default: `${stem}.js` }
}
