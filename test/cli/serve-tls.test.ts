import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { listen } from '../../src/service/node/listen.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runInside, workDirectory } from './run-cli.ts'

/** NAME.crt and NAME.key, made for localhost and 127.0.0.1. */
function makePair(directory: string, name: string): void {
  const files = ['-keyout', join(directory, `${name}.key`), '-out', join(directory, `${name}.crt`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-days', '2']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...key, ...files, ...subject], { stdio: 'ignore' })
}

function directoryWithPairs(t: TestContext): string {
  const directory = workDirectory(t)
  for (const name of ['a', 'b']) makePair(directory, name)
  return directory
}

const WORDS = ['--tls-cert', 'tls.crt', '--tls-key', 'tls.key']

function use(directory: string, name: string): void {
  for (const end of ['crt', 'key']) copyFileSync(join(directory, `${name}.${end}`), join(directory, `tls.${end}`))
}

async function startTls(t: TestContext, directory: string, words: readonly string[] = []) {
  use(directory, 'a')
  await putLines(directory, 'events', eventLines(1200))
  const cli = new RunningCli(['serve', '--port', '0', '--log-requests', 'none', ...WORDS, ...words], { in: directory })
  t.after(() => cli.child.kill('SIGKILL'))
  await cli.prints('Ctrl-C stops it.')
  const url = /https:\/\/[^/\s]+/.exec(cli.stdout)?.[0] ?? ''
  return { cli, url, port: Number(new URL(url).port) }
}

/** The body, over a connection of its own that trusts this certificate alone. */
async function ask(directory: string, name: string, url: string): Promise<string> {
  const request = get(url, { ca: readFileSync(join(directory, `${name}.crt`)), agent: false })
  const [answer] = await once(request, 'response')
  return Buffer.concat(await answer.toArray()).toString()
}

describe('serve with TLS', () => {
  for (const workers of ['1', '2'])
    it(`answers over https and reads the files again on SIGHUP, with --workers ${workers}`, async (t) => {
      const directory = directoryWithPairs(t)
      const { cli, url } = await startTls(t, directory, ['--workers', workers])
      const page = JSON.parse(await ask(directory, 'a', `${url}/events?page=2`))
      assert.equal(page._links.next.href, `${url}/events?page=3`)
      assert.ok(
        (await ask(directory, 'a', `${url.replace('127.0.0.1', 'localhost')}/events`)).includes('https://localhost:'),
      )

      writeFileSync(join(directory, 'tls.crt'), 'nonsense')
      cli.child.kill('SIGHUP')
      while (!cli.stderr.includes('\n')) await sleep(10)
      assert.match(
        cli.stderr,
        /"msg":"tls\.crt is not a certificate .* goes on with the certificate that it has\."}\n$/,
      )
      await ask(directory, 'a', `${url}/events`)

      use(directory, 'b')
      cli.child.kill('SIGHUP')
      while (!cli.stderr.endsWith('The TLS certificate was read again."}\n')) await sleep(10)
      for (let isNew = false; !isNew; )
        isNew = await ask(directory, 'b', `${url}/events`).then(
          () => true,
          () => false,
        )
      assert.equal((await cli.stop()).status, 0)
    })

  it('closes what is not TLS, and ends although a client opened a connection and says nothing', async (t) => {
    const directory = directoryWithPairs(t)
    const { cli, url, port } = await startTls(t, directory)
    const plain = connect(port, '127.0.0.1').on('error', () => {})
    const closed = once(plain.resume(), 'close')
    plain.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n')
    await closed
    const old = connectTls({
      port,
      host: '127.0.0.1',
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      rejectUnauthorized: false,
    })
    await assert.rejects(once(old, 'secureConnect'))
    const silent = connect(port, '127.0.0.1').on('error', () => {})
    await once(silent, 'connect')
    await ask(directory, 'a', `${url}/events`)
    assert.deepEqual({ ...(await cli.stop()), stdout: '' }, { status: 0, stdout: '', stderr: '' })
  })

  it('warns of a certificate that has expired', async (t) => {
    const directory = directoryWithPairs(t)
    const request = ['x509', '-x509toreq', '-in', 'a.crt', '-signkey', 'a.key', '-out', 'a.csr']
    const signed = ['x509', '-req', '-in', 'a.csr', '-signkey', 'a.key', '-days', '-1', '-out', 'a.crt']
    for (const words of [request, signed]) execFileSync('openssl', words, { cwd: directory, stdio: 'ignore' })
    const { cli } = await startTls(t, directory)
    assert.match((await cli.stop()).stderr, /"level":"warn".*The certificate in tls\.crt expired on .*: renew it/)
  })

  it('says what is wrong with the files', async (t) => {
    const directory = directoryWithPairs(t)
    await putLines(directory, 'events', eventLines(1))
    writeFileSync(join(directory, 'text'), 'nonsense')
    const encrypt = ['pkcs8', '-topk8', '-in', 'a.key', '-out', 'locked.key', '-passout', 'pass:secret']
    execFileSync('openssl', encrypt, { cwd: directory, stdio: 'ignore' })
    const wrong: [cert: string, key: string, message: RegExp][] = [
      ['a.crt', '', /needs both --tls-cert and --tls-key/],
      ['', 'a.key', /needs both --tls-cert and --tls-key/],
      ['no.crt', 'a.key', /Cannot read no\.crt: ENOENT\. Check the path after --tls-cert/],
      ['a.crt', 'no.key', /Cannot read no\.key: ENOENT\. Check the path after --tls-key/],
      ['tmp', 'a.key', /tmp is not a file\. Give a file after --tls-cert/],
      ['text', 'a.key', /text is not a certificate in PEM form/],
      ['a.crt', 'text', /text is not a private key in PEM form/],
      ['a.crt', 'b.key', /The certificate in a\.crt does not fit the key in b\.key/],
      ['a.crt', 'locked.key', /The key in locked\.key is encrypted.*openssl pkey/],
    ]
    for (const [cert, key, message] of wrong) {
      const words = [...(cert ? ['--tls-cert', cert] : []), ...(key ? ['--tls-key', key] : [])]
      const result = await runInside(['serve', '--port', '0', ...words], { in: directory })
      assert.equal(result.status, 2)
      assert.match(result.stderr, message)
    }
  })
})

it('a client that never finishes the TLS handshake is disconnected in time', async (t) => {
  const directory = directoryWithPairs(t)
  const [cert, key] = ['a.crt', 'a.key'].map((name) => readFileSync(join(directory, name), 'utf8'))
  const { port, close } = await listen({
    reply: () => assert.fail(),
    port: 0,
    headersTimeoutMs: 100,
    tls: { cert: cert ?? '', key: key ?? '' },
  })
  t.after(() => close(0))
  const silent = connect(port, '127.0.0.1').on('error', () => {})
  await once(silent.resume(), 'close')
})
