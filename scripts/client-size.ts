/** Prints what `reams/client` adds to a web page: bundled, minified, gzipped. Fails when that is above the limit. */

import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const ENTRY = join(import.meta.dirname, '../src/client/index.ts')
const LIMIT_BYTES = 8_500

/** All of the library as one script, for what has no more than the web's own APIs. */
export async function bundleClient(format: 'esm' | 'iife' = 'esm'): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    target: 'es2022',
    format,
    globalName: 'reams',
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error(`esbuild made nothing of ${ENTRY}.`)
  return file.contents
}

if (import.meta.main) {
  const bundle = await bundleClient()
  const bytes = gzipSync(bundle, { level: 9 }).length
  const figure = (number: number) => number.toLocaleString('en-US')
  console.log(
    `reams/client: ${figure(bytes)} bytes gzipped, ${figure(bundle.length)} minified; the limit is ${figure(LIMIT_BYTES)} gzipped.`,
  )
  if (bytes > LIMIT_BYTES) process.exitCode = 1
}
