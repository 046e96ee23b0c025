/** Builds dist/reams-VERSION-OS-ARCH: one file that runs where no Node is. It is this Node, with Reams inside. */

import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildExplorer } from './build-explorer.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'src')

/** Tells Node that something was put in: every program made in this way has it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** As bin/reams has them. V8 takes translated code only where it runs with the flags that the code was made with. */
const FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=60']

/** Answers with the path of the program. */
export async function buildExecutable(directory: string): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const program = join(directory, `reams-${version}-${platform()}-${arch()}`)
  mkdirSync(directory, { recursive: true })
  const parts = mkdtempSync(join(directory, 'parts-'))
  try {
    buildExplorer(join(SOURCE, 'explorer/built'))
    const threads = globSync('**/*-thread.ts', { cwd: SOURCE })
    await bundle(['cli/main.ts', ...threads], parts)
    const blob = join(parts, 'sea.blob')
    writeFileSync(join(parts, 'sea.json'), JSON.stringify(configuration(parts, blob, threads)))
    runNode(...FLAGS, '--experimental-sea-config', join(parts, 'sea.json'))
    rmSync(program, { force: true })
    copyFileSync(process.execPath, program)
    chmodSync(program, 0o755)
    const postject = join(ROOT, 'node_modules/postject/dist/cli.js')
    runNode(postject, program, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE)
  } finally {
    rmSync(parts, { recursive: true })
  }
  return program
}

/** Each module with all that it imports as one script. */
async function bundle(modules: readonly string[], parts: string): Promise<void> {
  await build({
    entryPoints: modules.map((path) => join(SOURCE, path)),
    outdir: parts,
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

function configuration(parts: string, output: string, threads: readonly string[]) {
  const files = globSync(['**/*.sql', 'explorer/built/*'], { cwd: SOURCE })
  const scripts = threads.map((path) => path.replace(/ts$/, 'js'))
  return {
    main: join(parts, 'cli/main.js'),
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    execArgv: FLAGS,
    // NODE_OPTIONS is meant for the Node of the machine.
    execArgvExtension: 'none',
    assets: {
      '../package.json': join(ROOT, 'package.json'),
      ...Object.fromEntries(files.map((path) => [path, join(SOURCE, path)])),
      ...Object.fromEntries(scripts.map((path) => [path, join(parts, path)])),
    },
  }
}

/** What it prints is shown only where it fails. */
function runNode(...words: string[]): void {
  execFileSync(process.execPath, words, { stdio: 'pipe' })
}

if (import.meta.main) console.log(await buildExecutable(join(ROOT, 'dist')))
