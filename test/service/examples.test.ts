import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { freePort } from '../store/free-port.ts'
import { envelopeOf, fill, numbered } from './open-service.ts'

async function storeWithEvents(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'reams-example-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = join(directory, 'reams.db')
  const store = await openSqliteStore({ path, create: true })
  await fill(store, 'events', numbered(1234))
  await store.close()
  return path
}

describe('examples', () => {
  for (const file of ['hono-app.ts', 'node-http.ts'])
    test(`${file} serves collections beside its own routes and stops when told`, async (t) => {
      const port = await freePort()
      const running = spawn(process.execPath, [join(import.meta.dirname, '../../examples', file)], {
        env: { ...process.env, PORT: String(port), REAMS_STORE: await storeWithEvents(t) },
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

      running.kill('SIGTERM')
      const [status, signal] = await once(running, 'exit')
      assert.deepEqual([status, signal], [0, null])
    })
})
