/**
 * Builds what a clone does not hold: the explorer's script into src/explorer/built/, and src/ as JavaScript into lib/. Of what runs in
 * browsers lib/ has that script, and the modules that the server imports as well.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildExplorer } from './build-explorer.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'src')
const LIBRARY = join(ROOT, 'lib')

buildExplorer(join(SOURCE, 'explorer/built'))
rmSync(LIBRARY, { recursive: true, force: true })
compile()
for (const file of globSync(['**/*.sql', 'explorer/built/*'], { cwd: SOURCE }))
  cpSync(join(SOURCE, file), join(LIBRARY, file))

/** Types are checked by `npm test`: a clone in the middle of a change starts all the same. */
function compile(): void {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const project = join(ROOT, 'scripts/build.tsconfig.json')
  execFileSync(process.execPath, [compiler, '-p', project, '--noCheck', '--outDir', LIBRARY], { stdio: 'inherit' })
}
