/** Builds dist/reams-VERSION-OS-ARCH: one file that runs where no Node is. It is this Node, with Reams inside. */

import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildExplorer } from './build-explorer.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'src')
const DIST = join(ROOT, 'dist')
const PARTS = join(DIST, 'parts')

/** Tells Node that something was put in: every program made in this way has it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** As bin/reams has them. */
const FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=60']

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const program = join(DIST, `reams-${version}-${platform()}-${arch()}`)

rmSync(PARTS, { recursive: true, force: true })
mkdirSync(PARTS, { recursive: true })
buildExplorer(join(SOURCE, 'explorer/built'))
const threads = globSync('**/*-thread.ts', { cwd: SOURCE })
await bundle(['cli/main.ts', ...threads])
writeFileSync(join(PARTS, 'sea.json'), JSON.stringify(configuration()))
// With the same flags: V8 takes translated code only where it has those that it was made with.
execFileSync(process.execPath, [...FLAGS, '--experimental-sea-config', join(PARTS, 'sea.json')], { stdio: 'ignore' })
rmSync(program, { force: true })
copyFileSync(process.execPath, program)
chmodSync(program, 0o755)
const postject = join(ROOT, 'node_modules/postject/dist/cli.js')
const words = [program, 'NODE_SEA_BLOB', join(PARTS, 'sea.blob'), '--sentinel-fuse', FUSE]
execFileSync(process.execPath, [postject, ...words], { stdio: 'ignore' })
rmSync(PARTS, { recursive: true })
console.log(program)

/** Each module with all that it imports as one script. */
async function bundle(modules: readonly string[]): Promise<void> {
  await build({
    entryPoints: modules.map((path) => join(SOURCE, path)),
    outdir: PARTS,
    outbase: SOURCE,
    bundle: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    external: ['pg-native'],
    // The only module that uses it does so where the files lie beside it.
    logOverride: { 'empty-import-meta': 'silent' },
    logLevel: 'warning',
  })
}

function configuration() {
  const files = globSync(['**/*.sql', 'explorer/built/*'], { cwd: SOURCE })
  const scripts = threads.map((path) => path.replace(/ts$/, 'js'))
  return {
    main: join(PARTS, 'cli/main.js'),
    output: join(PARTS, 'sea.blob'),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    execArgv: FLAGS,
    assets: {
      '../package.json': join(ROOT, 'package.json'),
      ...Object.fromEntries(files.map((path) => [path, join(SOURCE, path)])),
      ...Object.fromEntries(scripts.map((path) => [path, join(PARTS, path)])),
    },
  }
}
