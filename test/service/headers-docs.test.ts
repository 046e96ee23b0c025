import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCli, startServer, workDirectory } from '../cli/run-cli.ts'
import { inlineCodeOf, tablesOf } from '../markdown.ts'

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
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'events.ndjson'), '{"id":1}\n')
    await runCli(['import', 'events', 'events.ndjson', '--key', 'id'], { in: directory })
    const { stdout } = await runCli(['token', 'create', '--name', 'a', '--scope', 'admin'], { in: directory })
    const { url } = await startServer(t, [], { in: directory })
    const headers = { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' }
    const write = (path: string, method: string, body: string, more = {}) =>
      fetch(`${url}${path}`, { method, body, headers: { ...headers, ...more } })
    const answers = [
      await fetch(`${url}/events`),
      await fetch(`${url}/events`, { headers: { 'If-None-Match': '*', 'Accept-Encoding': 'identity' } }),
      await fetch(`${url}/nope`),
      await fetch(`${url}/events`, { headers: { Accept: 'text/html,application/xhtml+xml' } }),
      await fetch(`${url}/-/health`, { method: 'HEAD' }),
      await fetch(`${url}/events`, { method: 'OPTIONS' }),
      await fetch(`${url}/events`, { method: 'POST', body: '{}' }),
      await write('/events', 'POST', '{"id":2}'),
      await write('/events/3', 'PUT', '{"id":3}'),
      await write('/events', 'POST', '{}', { 'Content-Encoding': 'br' }),
      await write('/venues', 'PUT', '{}'),
    ]
    const seen = new Set(answers.flatMap((answer) => [...answer.headers.keys()]))
    assert.deepEqual([...seen.difference(named(answerTable))], [])
    const usual = ['date', 'connection', 'keep-alive', 'transfer-encoding']
    const unseen = [...named(answerTable).difference(seen)].filter((name) => !usual.includes(name))
    // A service that is too busy takes long to bring about.
    assert.deepEqual(unseen, ['retry-after'])
    assert.match(CODE, /'Retry-After': /)
  })
})
