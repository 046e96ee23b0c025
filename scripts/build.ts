/** Builds the package: dist/ is what gets published, with a package.json of its own that points to JavaScript. */

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')

rmSync(DIST, { recursive: true, force: true })
execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(ROOT, 'scripts/build.tsconfig.json')], {
  stdio: 'inherit',
})
for (const sql of globSync('**/*.sql', { cwd: join(ROOT, 'src') })) cpSync(join(ROOT, 'src', sql), join(DIST, sql))
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(ROOT, file), join(DIST, file))

const main = join(DIST, 'cli/main.js')
writeFileSync(main, `#!/usr/bin/env node\n${readFileSync(main, 'utf8')}`)
chmodSync(main, 0o755)

const { name, version, description, license, type, engines, dependencies, exports } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)
const built = (path: string) => ({
  types: path.replace('./src/', './').replace(/\.ts$/, '.d.ts'),
  default: path.replace('./src/', './').replace(/\.ts$/, '.js'),
})
const builtExports = Object.fromEntries(Object.entries<string>(exports).map(([key, path]) => [key, built(path)]))
const published = { name, version, description, license, type, engines, bin: { reams: 'cli/main.js' }, exports: builtExports, dependencies }
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
