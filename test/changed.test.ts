import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readGraph, testsAffectedBy } from '../scripts/import-graph.ts'
import { similarities } from '../scripts/similarity.ts'

describe('the tests that a change can affect', () => {
  const graph = readGraph()

  it('are those that import the changed file, directly or through others', () => {
    const tests = testsAffectedBy(['src/contract/page.ts'], graph)
    for (const test of ['test/contract/page.test.ts', 'test/service/reads.test.ts'])
      assert.ok(tests.includes(test), test)
    assert.ok(!tests.includes('test/items/raw-deflate.test.ts'))
  })

  it('are also those that start it as a program or a thread, load it in a browser, or read it as a page', () => {
    for (const [changed, test] of [
      ['src/cli/main.ts', 'test/cli/serve.test.ts'],
      ['src/store/sqlite/read/page-thread.ts', 'test/store/sqlite-page-reader.test.ts'],
      ['src/explorer/browser/download.ts', 'test/browser/browser.test.ts'],
      ['docs/how-to/csv.md', 'test/shell-pages.test.ts'],
    ] as const)
      assert.ok(testsAffectedBy([changed], graph).includes(test), changed)
  })

  it('score higher the more words they share with it, rare words most', () => {
    const texts = new Map([
      ['pages', 'a page of items with a link to the next page'],
      ['mirrors', 'a mirror of items, which retries while its origin is away'],
      ['tokens', 'a token that was revoked is refused for items'],
    ])
    for (const [change, test] of [
      ['retryMs: how long a mirror waits for items of the origin', 'mirrors'],
      ['isRevoked, for the items of a token', 'tokens'],
    ] as const) {
      const scores = similarities(change, texts)
      assert.equal(scores.get(test), Math.max(...scores.values()))
    }
  })

  it('cannot be run since a commit that does not exist, or for no time', () => {
    for (const [words, error] of [
      [['no-such-commit'], /^test:changed: fatal: bad revision 'no-such-commit'/],
      [['--seconds', 'soon'], /^test:changed: Usage: npm run test:changed/],
      [['--fast'], /^test:changed: Unknown option '--fast'.*Usage: /s],
    ] as const) {
      const script = join(import.meta.dirname, '../scripts/test-changed.ts')
      const { status, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' })
      assert.equal(status, 2)
      assert.match(stderr, error)
    }
  })
})
