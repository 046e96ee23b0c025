import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { transformSync } from 'esbuild'
import { buildExplorer } from '../../scripts/build-explorer.ts'
import { ASSET_BYTES, makeAssets } from '../../src/explorer/assets.ts'

describe('the files of the explorer', () => {
  const assets = Object.values(makeAssets())

  it('are what their source makes today: `npm run build:explorer` makes them', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'reams-explorer-'))
    t.after(() => rmSync(directory, { recursive: true }))
    buildExplorer(directory)
    const { script, style } = makeAssets()
    for (const [{ plain }, name] of [[script, 'explorer.js'] as const, [style, 'explorer.css'] as const])
      assert.ok(readFileSync(join(directory, name)).equals(plain), name)
  })

  it('have less than 60,000 bytes together, not compressed', () => {
    const sizes = assets.map(({ path, plain }) => `${path} ${plain.length}`)
    const sum = assets.reduce((bytes, { plain }) => bytes + plain.length, 0)
    assert.ok(sum < ASSET_BYTES, `${sum} bytes: ${sizes.join(', ')}`)
    assert.equal(ASSET_BYTES, 60_000)
  })

  it('are the same as gzip, and small then', () => {
    for (const { plain, gzip } of assets) {
      assert.deepEqual(gunzipSync(gzip), plain)
      assert.ok(gzip.length < plain.length)
    }
  })

  it('are a script and a style sheet without a flaw, with the same names every time', () => {
    const { script, style } = makeAssets()
    for (const [asset, loader] of [[script, 'js'] as const, [style, 'css'] as const]) {
      const { warnings } = transformSync(asset.plain, { loader, format: loader === 'js' ? 'esm' : undefined } as never)
      assert.deepEqual(warnings, [])
    }
    assert.deepEqual(
      assets.map(({ path }) => path),
      Object.values(makeAssets()).map(({ path }) => path),
    )
  })
})
