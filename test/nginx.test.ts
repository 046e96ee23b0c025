import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventLines } from './cli/items.ts'
import { RunningCli, runCli, workDirectory } from './cli/run-cli.ts'
import { lackOf, NGINX } from './faults/needs.ts'
import { fencesOf } from './markdown.ts'
import { freePort } from './store/free-port.ts'

const PAGE = new URL('../docs/how-to/behind-a-proxy.md', import.meta.url)

describe('the page about proxies', () => {
  it('has a configuration with which nginx passes everything on', async (t) => {
    const lack = await lackOf([NGINX])
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    const [port, proxyPort] = [await freePort(), await freePort()]
    const baseUrl = `http://127.0.0.1:${proxyPort}/v1`
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1234))
    writeFileSync(join(directory, 'files.ndjson'), '{"id":"a/b"}\n{"id":"a b"}\n')
    for (const name of ['events', 'files'])
      assert.equal((await runCli(['import', name, `${name}.ndjson`, '--key', 'id'], { in: directory })).status, 0)
    const token = (
      await runCli(['token', 'create', '--name', 'a', '--scope', 'admin'], { in: directory })
    ).stdout.trim()
    const server = new RunningCli(['serve', '--port', String(port), '--base-url', baseUrl], { in: directory })
    t.after(() => server.child.kill('SIGKILL'))
    await server.prints('Ctrl-C stops it.')
    await startNginx(t, directory, (text) =>
      text.replace('127.0.0.1:8080', `127.0.0.1:${port}`).replace('listen 80', `listen 127.0.0.1:${proxyPort}`),
    )

    const check = await runCli(['check', `${baseUrl}/events`, '--strict'], { in: directory })
    assert.equal(check.status, 0, check.stdout)
    await runCli(['pull', `${baseUrl}/events`, '-o', 'copy.ndjson'], { in: directory })
    assert.equal(readFileSync(join(directory, 'copy.ndjson'), 'utf8'), eventLines(1234))

    assert.equal(await (await fetch(`${baseUrl}/files/a%2Fb`)).text(), '{"id":"a/b"}')
    assert.equal(await (await fetch(`${baseUrl}/files/a%20b`)).text(), '{"id":"a b"}')

    const large = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id: `n${id}`, text: 'x'.repeat(200_000) })))
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${baseUrl}/files`, { method: 'POST', headers, body: large })
    assert.equal(answer.status, 201)
    assert.equal(JSON.parse(await answer.text()).item_count, 22)
  })
})

/** nginx with the configuration of the page, in the foreground, with all its files in the directory. */
async function startNginx(t: TestContext, directory: string, adapt: (text: string) => string): Promise<void> {
  const [shown] = fencesOf(readFileSync(PAGE, 'utf8')).filter(({ language }) => language === 'nginx')
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path tmp/${name};`)
  const file = join(directory, 'nginx.conf')
  const http = `http {\naccess_log off;\n${own.join('\n')}\n${adapt(shown?.text ?? '')}}\n`
  writeFileSync(file, `daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\n${http}`)
  const env = { PATH: `${process.env['PATH']}:/usr/sbin` }
  const nginx = spawn('nginx', ['-p', directory, '-e', 'stderr', '-c', file], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => stop(nginx))
  let said = ''
  nginx.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const address = /listen (\S+);/.exec(http)?.[1]
  while (nginx.exitCode === null && !(await answers(`http://${address}/`))) await pause(20)
  assert.equal(nginx.exitCode, null, said)
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

async function stop(nginx: ChildProcess): Promise<void> {
  if (nginx.exitCode !== null || !nginx.kill('SIGTERM')) return
  await once(nginx, 'exit')
}
