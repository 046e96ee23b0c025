import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { eventLines, putLines } from './cli/items.ts'
import { RunningCli, runInside, workDirectory } from './cli/run-cli.ts'
import { lackOf, NGINX } from './faults/needs.ts'
import { robotsLocation, shownConfigurations, startNginx } from './nginx.ts'
import { freePort } from './store/free-port.ts'

describe('the page about proxies', () => {
  it('has a configuration with which nginx passes everything on', async (t) => {
    const lack = await lackOf([NGINX])
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    const [port, proxyPort] = [await freePort(), await freePort()]
    const baseUrl = `http://127.0.0.1:${proxyPort}/v1`
    await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
    await putLines(directory, 'files', '{"id":"a/b"}\n{"id":"a b"}\n', { keyField: 'id' })
    const created = await runInside(['token', 'create', '--name', 'a', '--scope', 'admin'], { in: directory })
    const words = ['serve', '--port', String(port), '--base-url', baseUrl, '--trust-proxy', '127.0.0.1']
    const server = new RunningCli(words, { in: directory })
    t.after(() => server.child.kill('SIGKILL'))
    await server.prints('Ctrl-C stops it.')
    const [shown = ''] = shownConfigurations()
    const listen = `listen 127.0.0.1:${proxyPort}`
    await using _nginx = await startNginx(
      directory,
      shown
        .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replace('listen 80', listen)
        .replace('location /v1/', `${robotsLocation()}\n  location /v1/`),
    )

    const robots = await fetch(new URL('/robots.txt', baseUrl))
    assert.equal(await robots.text(), 'User-agent: *\nDisallow: /\n')
    const check = await runInside(['check', `${baseUrl}/events`, '--strict'], { in: directory })
    assert.equal(check.status, 0, check.stdout)
    await runInside(['pull', `${baseUrl}/events`, '-o', 'copy.ndjson'], { in: directory })
    assert.equal(readFileSync(join(directory, 'copy.ndjson'), 'utf8'), eventLines(1234))

    assert.equal(await (await fetch(`${baseUrl}/files/a%2Fb`)).text(), '{"id":"a/b"}')
    assert.equal(await (await fetch(`${baseUrl}/files/a%20b`)).text(), '{"id":"a b"}')

    const large = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id: `n${id}`, text: 'x'.repeat(200_000) })))
    const headers = { Authorization: `Bearer ${created.stdout.trim()}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${baseUrl}/files`, { method: 'POST', headers, body: large })
    assert.equal(answer.status, 201)
    assert.equal(JSON.parse(await answer.text()).item_count, 22)

    const from = { localAddress: '127.0.0.2', headers: { 'X-Request-Id': 'one', 'X-Forwarded-For': '203.0.113.9' } }
    const [asked] = (await once(get(`${baseUrl}/events`, from), 'response')) as [IncomingMessage]
    await once(asked.resume(), 'end')
    const { stderr } = await server.stop()
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(lines.find(({ request_id: id }) => id === 'one')?.remote_address, '127.0.0.2')
  })
})
