import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { inlineCodeOf, tablesOf } from '../markdown.ts'
import { fill, numbered } from './open-service.ts'
import { startWriteServer } from './write-server.ts'

const ROOT = join(import.meta.dirname, '../..')
const CODE = globSync('src/service/{,read/,write/}*.ts', { cwd: ROOT })
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('')
const [requestTable = [], answerTable = []] = tablesOf(readFileSync(join(ROOT, 'docs/reference/headers.md'), 'utf8'))

/** What the first column names, in lower case. */
function named(table: readonly string[][]): Set<string> {
  return new Set(table.flatMap(([cell = '']) => inlineCodeOf(cell)).map((name) => name.toLowerCase()))
}

describe('the page about headers', () => {
  it('has every header of a request that the service reads, and no other', () => {
    const read = [...CODE.matchAll(/headers\.(?:get|has)\('([\w-]+)'\)/g)].map(([, name = '']) => name)
    // These two are read before the service sees a request.
    assert.deepEqual([...named(requestTable)].toSorted(), [...new Set([...read, 'expect', 'host'])].toSorted())
  })

  it('has every header that answers have, and no other', async (t) => {
    const limit = { requests: 12, seconds: 3_600 }
    const options = { rateLimits: { reads: { ...limit, requests: 9 }, writes: limit }, corsOrigins: ['*'] }
    const { store, ask } = await startWriteServer(t, options)
    await fill(store, 'events', numbered(1))
    const asks: readonly Parameters<typeof ask>[] = [
      ['GET', '/events', undefined, { 'Accept-Encoding': 'gzip' }],
      ['GET', '/events', undefined, { 'If-None-Match': '*' }],
      ['GET', '/events', undefined, { 'If-None-Match': '*', Prefer: 'wait=1' }],
      ['GET', '/nope'],
      ['GET', '/events', undefined, { Accept: 'text/html,application/xhtml+xml' }],
      ['HEAD', '/-/health'],
      ['OPTIONS', '/events'],
      ['POST', '/events', '{}', { Authorization: '' }],
      ['POST', '/events', '{"id":2}'],
      ['PUT', '/events/3', '{"id":3}'],
      ['POST', '/events', '{}', { 'Content-Encoding': 'br' }],
      ['POST', '/events', '{"id":4}', { 'Idempotency-Key': 'a' }],
      ['POST', '/events', '{"id":4}', { 'Idempotency-Key': 'a' }],
      ['PUT', '/venues', '{}'],
      ['OPTIONS', '/events', undefined, { Origin: 'https://a.example', 'Access-Control-Request-Method': 'GET' }],
      // Until one is too many.
      ...Array.from({ length: 4 }, (): Parameters<typeof ask> => ['GET', '/']),
    ]
    const seen = new Set<string>()
    const exposed = new Set<string>()
    for (const each of asks) {
      const { headers } = await ask(...each)
      for (const name of Object.keys(headers)) seen.add(name)
      const names = String(headers['access-control-expose-headers'] ?? '').toLowerCase()
      for (const name of names.split(', ').filter(Boolean)) exposed.add(name)
    }
    assert.deepEqual([...seen.difference(named(answerTable))], [])
    const usual = ['date', 'connection', 'keep-alive', 'transfer-encoding']
    const unseen = [...named(answerTable).difference(seen)].filter((name) => !usual.includes(name))
    assert.deepEqual(unseen, [])
    assert.ok(exposed.size > 0)
    assert.deepEqual([...exposed.difference(seen)], [], 'CORS exposes headers that are never sent')
  })
})
