import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { workDirectory } from '../cli/run-cli.ts'
import { freePort } from '../store/free-port.ts'
import { envelopeOf, fill, numbered, tokenFor } from './open-service.ts'
import { isWhole } from './whole.ts'
import { JSON_TYPE } from './write-server.ts'

/** The path of a store, and the headers of someone who may write to it. */
async function storeWithEvents(t: TestContext) {
  const path = join(workDirectory(t), 'reams.db')
  const store = await openSqliteStore({ path, create: true })
  await fill(store, 'events', numbered(1234))
  const writer = await tokenFor(store, ['create:*'])
  await store.close()
  return { path, writer }
}

describe('examples', () => {
  for (const file of ['express-app.ts', ...(isWhole() ? ['hono-app.ts', 'node-http.ts', 'fastify-app.ts'] : [])])
    test(`${file} serves collections beside its own routes, takes writes and stops when told`, async (t) => {
      const port = await freePort()
      const { path, writer } = await storeWithEvents(t)
      const running = spawn(process.execPath, [join(import.meta.dirname, '../../examples', file)], {
        env: { ...process.env, PORT: String(port), REAMS_STORE: path },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      t.after(() => running.kill('SIGKILL'))
      const [line] = await once(running.stdout, 'data')
      const base = `http://127.0.0.1:${port}/data`
      assert.equal(String(line), `${base}/\n`)

      assert.match(await (await fetch(`http://127.0.0.1:${port}/hello`)).text(), /^Hello/)
      const page = await envelopeOf(await fetch(`${base}/events?page=3`))
      assert.equal(page.item_count, 1234)
      assert.equal(page._links['prev']?.href, `${base}/events?page=2`)
      assert.equal(page._embedded['events']?.length, 234)
      assert.equal((await envelopeOf(await fetch(base)))._links['self']?.href, `${base}/`)
      assert.equal((await fetch(`${base}/nope`)).status, 404)

      await assertWritable(base, writer)
      if (/express|fastify/.test(file)) {
        const init = { method: 'POST', headers: JSON_TYPE, body: '{"a":1}' }
        const echoed = await fetch(`http://127.0.0.1:${port}/echo`, init)
        assert.deepEqual(await echoed.json(), { a: 1 })
      }

      running.kill('SIGTERM')
      const [status, signal] = await once(running, 'exit')
      assert.deepEqual([status, signal], [0, null])
    })
})

/** Bodies of every type reach Reams as they are, also those that a framework would parse, refuse or find too large. */
async function assertWritable(base: string, writer: Record<string, string>): Promise<void> {
  type Body = string | Uint8Array<ArrayBuffer>
  const send = async (method: string, path: string, type: string, body: Body, more = {}) => {
    const headers = { ...writer, ...(type !== '' && { 'Content-Type': type }), ...more }
    return (await fetch(base + path, { method, headers, body })).status
  }
  const [json, lines] = ['application/json', 'application/x-ndjson']
  // Named like the path under which Reams is mounted.
  assert.equal(await send('PUT', '/data', json, '{"key":"id"}'), 201)
  assert.equal(await send('POST', '/data', json, '[{"id":"a/b"},{"id":2}]'), 201)
  const large = Array.from({ length: 20 }, (_, index) => `{"id":"n${index}","text":"${'x'.repeat(100_000)}"}`)
  assert.equal(await send('POST', '/data', lines, large.join('\n')), 201)
  assert.equal(await send('POST', '/data', lines, gzipSync('{"id":3}'), { 'Content-Encoding': 'gzip' }), 201)
  assert.equal(await send('PATCH', '/data', lines, '{"op":"delete","key":"2"}'), 200)
  assert.equal(await send('PUT', '/data/3', json, '{"id":3,"x":1.10}'), 200)
  assert.equal(await send('POST', '/data', '', new Uint8Array([0x7b])), 415)
  assert.equal(await (await fetch(`${base}/data/3`)).text(), '{"id":3,"x":1.10}')
  assert.equal(await (await fetch(`${base}/data/a%2Fb`)).text(), '{"id":"a/b"}')
  assert.equal((await envelopeOf(await fetch(`${base}/data?page=9`))).item_count, 22)
  assert.equal((await fetch(`${base}/data/3`, { method: 'DELETE', headers: writer })).status, 204)
  assert.equal((await fetch(`${base}/data`, { method: 'OPTIONS' })).status, 204)
  assert.equal((await fetch(`${base}/data`, { method: 'HEAD' })).headers.get('content-type'), 'application/hal+json')
}
