/** Bundles the script and the style sheet of the explorer's pages into src/explorer/built/, or into the directory given. */

import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'

const EXPLORER = join(import.meta.dirname, '../src/explorer')

export function buildExplorer(directory: string): void {
  buildSync({
    entryPoints: [
      { in: join(EXPLORER, 'browser/main.ts'), out: 'explorer' },
      { in: join(EXPLORER, 'browser/explorer.css'), out: 'explorer' },
    ],
    outdir: directory,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  })
}

if (import.meta.main) buildExplorer(resolve(process.argv[2] ?? join(EXPLORER, 'built')))
