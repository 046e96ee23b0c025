import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { bundleClient } from '../../scripts/client-size.ts'
import type { createClient } from '../../src/client/index.ts'
import { CorrectServer } from '../check/correct-server.ts'
import { BASE, inProcess } from './hostile-server.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('the client as a bundle', () => {
  it('is small, and a command says how small', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/client-size.ts')])
    const [, bytes = ''] = /^reams\/client: ([\d,]+) bytes gzipped/.exec(stdout) ?? assert.fail(stdout)
    assert.ok(Number(bytes.replace(',', '')) <= 8500)
  })

  it('runs where there is nothing but the APIs of the web', async () => {
    const { fetch } = inProcess(new CorrectServer({ items: 1234 }))
    const { AbortController, Headers, Request, TextDecoder, URL, clearTimeout, setTimeout } = globalThis
    const web = { AbortController, Headers, Request, TextDecoder, URL, clearTimeout, setTimeout, fetch }
    const context = createContext(web)
    const source = new TextDecoder().decode(await bundleClient('iife'))
    runInContext(source, context)
    const create = runInContext('reams.createClient', context) as typeof createClient
    const events = create(BASE).collection<{ id: number }>('events')
    assert.equal(await events.count(), 1234)
    let last = 0
    for await (const { id } of events.items()) last = id
    assert.equal(last, 1234)
    await assert.rejects(create(BASE).collection('nothing').count(), { name: 'HttpError', status: 404 })
  })
})
