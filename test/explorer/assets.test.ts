import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { transformSync } from 'esbuild'
import { ASSET_BYTES, makeAssets } from '../../src/explorer/assets.ts'
import { squeezeCss } from '../../src/explorer/squeeze-css.ts'

const ASSETS = join(import.meta.dirname, '../../src/explorer/assets.ts')

describe('the files of the explorer', () => {
  const assets = Object.values(makeAssets())

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

  it('are made without a word on stderr', async () => {
    const program = `const { makeAssets } = await import(${JSON.stringify(ASSETS)}); makeAssets(); process.emitWarning('mine')`
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    assert.doesNotMatch(stderr, /Experimental/)
    assert.match(stderr, /Warning: mine/)
  })
})

describe('a squeezed style sheet', () => {
  const sheets = [
    'a :hover , b > c { color : red ; ; }',
    '/* x */ a{content:"/* y */  ;}";color:red}/* z */',
    '@media (width > 600px) and (prefers-color-scheme: dark) { :root { --a:1px; } }',
    'a { width: calc(1px + 2 * var(--a)); margin: 0 auto; font: 1em / 1.5 "A  B", serif }',
    ".x::before { content: '\\'  {' }\n\n.y :is(a, b):not(.z) + p ~ q { inset: 0 }",
  ]
  for (const sheet of sheets)
    it(`means the same: ${sheet.slice(0, 30)}`, () => {
      const squeezed = squeezeCss(sheet)
      const normal = (text: string) => transformSync(text, { loader: 'css', minifyWhitespace: true }).code
      assert.equal(normal(squeezed), normal(sheet))
      assert.ok(squeezed.length < sheet.length)
    })
})
