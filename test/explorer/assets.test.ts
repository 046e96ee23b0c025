import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { buildExplorer } from '../../scripts/build-explorer.ts'
import { ASSET_BYTES, makeAssets } from '../../src/explorer/create-explorer.ts'

it('the files of the explorer are what their source makes today: `npm run build:explorer` makes them', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'reams-explorer-'))
  t.after(() => rmSync(directory, { recursive: true }))
  buildExplorer(directory)
  const { script, style } = makeAssets()
  for (const [{ plain }, name] of [[script, 'explorer.js'] as const, [style, 'explorer.css'] as const])
    assert.ok(readFileSync(join(directory, name)).equals(plain), name)
})

it('the files of the explorer have less than 60,000 bytes together, not compressed', () => {
  const sizes = Object.values(makeAssets()).map(({ plain }) => plain.length)
  const sum = sizes.reduce((bytes, size) => bytes + size)
  assert.ok(sum < ASSET_BYTES, `${sum} bytes: ${sizes}`)
})
