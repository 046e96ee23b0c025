import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { listen } from '../../src/service/node/listen.ts'
import { parseAnswers, readToEnd, refusesConnections } from '../service/raw-http.ts'
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

const TRUSTING = { host: '127.0.0.1', rejectUnauthorized: false } as const

/** Connects, or throws the error of the handshake. */
async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connectTls({ ...TRUSTING, port, ...options })
  await once(socket, 'secureConnect')
  return socket.on('error', () => {})
}

async function statusOver(socket: TLSSocket): Promise<string> {
  socket.write('GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
  return (await readToEnd(socket)).toString('latin1', 9, 12)
}

/** The first bytes of a handshake. */
async function firstBytes(t: TestContext): Promise<Buffer> {
  const catcher = createServer().listen(0, '127.0.0.1')
  t.after(() => catcher.close())
  await once(catcher, 'listening')
  const client = connectTls({ ...TRUSTING, port: (catcher.address() as AddressInfo).port }).on('error', () => {})
  const [socket] = (await once(catcher, 'connection')) as [Socket]
  const [bytes] = await once(socket, 'data')
  client.destroy()
  socket.destroy()
  return bytes
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

  it('answers unusual clients or refuses them, and no client can renegotiate or speak another protocol', async (t) => {
    const directory = directoryWithPairs(t)
    const { cli, port } = await startTls(t, directory)
    const [cert, key] = ['b.crt', 'b.key'].map((name) => readFileSync(join(directory, name)))
    const answered: ConnectionOptions[] = [
      { servername: '' },
      { servername: `${'a'.repeat(60)}.${'b'.repeat(190)}` },
      { servername: '..%00;' },
      { maxVersion: 'TLSv1.2' },
      { ALPNProtocols: ['h2', 'http/1.1'] },
      { cert, key },
    ]
    for (const options of answered) assert.equal(await statusOver(await handshake(port, options)), '200')
    const refused: ConnectionOptions[] = [
      { ALPNProtocols: ['h2'] },
      { ALPNProtocols: Array.from({ length: 200 }, (_, index) => `${'x'.repeat(200)}${index}`) },
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    ]
    for (const options of refused) await assert.rejects(handshake(port, options), { code: /ALERT/ })

    const again = await handshake(port, { maxVersion: 'TLSv1.2' })
    const result = new Promise((resolve) => {
      again.once('error', resolve)
      again.renegotiate({ rejectUnauthorized: false }, resolve)
    })
    assert.match(String(await result), /no renegotiation/)
    again.destroy()

    const hello = await firstBytes(t)
    const closedAtOnce = [
      Buffer.from('GET /events HTTP/1.1\r\n\r\n'),
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      Buffer.from([22, 3, 1, 0xff, 0xff, 1, 2, 3]),
      Buffer.concat([hello.subarray(0, 40), hello]),
    ]
    for (const bytes of closedAtOnce) {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      const closed = once(socket.resume(), 'close')
      socket.write(bytes)
      await closed
    }
    assert.deepEqual({ ...(await cli.stop()), stdout: '' }, { status: 0, stdout: '', stderr: '' })
  })

  it('reads a handshake byte by byte', async (t) => {
    const { port } = await startTls(t, directoryWithPairs(t))
    const splitter = createServer((client) => {
      const server = connect({ port, host: '127.0.0.1', noDelay: true })
      // The client says goodbye when the server is already gone.
      for (const socket of [client, server]) socket.on('error', () => {})
      let sent = Promise.resolve()
      client.on('data', (bytes) => {
        sent = sent.then(async () => {
          for (const byte of bytes) {
            server.write(Buffer.from([byte]))
            await new Promise(setImmediate)
          }
        })
      })
      server.pipe(client)
    }).listen(0, '127.0.0.1')
    t.after(() => splitter.close())
    await once(splitter, 'listening')
    assert.equal(await statusOver(await handshake((splitter.address() as AddressInfo).port, {})), '200')
  })

  for (const workers of ['1', '2'])
    it(`serves others between many stalled handshakes, and renews its certificate, with --workers ${workers}`, async (t) => {
      const directory = directoryWithPairs(t)
      const { cli, port } = await startTls(t, directory, ['--workers', workers])
      const hello = await firstBytes(t)
      for (let count = 0; count < 150; count++) {
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        await once(socket, 'connect')
        socket.write(hello.subarray(0, count % hello.length))
      }
      for (let round = 0; round < 6; round++) {
        use(directory, round % 2 === 0 ? 'b' : 'a')
        cli.child.kill('SIGHUP')
        const statuses = await Promise.all(Array.from({ length: 5 }, async () => statusOver(await handshake(port, {}))))
        assert.deepEqual(statuses, Array(5).fill('200'))
      }
      assert.equal((await cli.stop()).status, 0)
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

it('a closing server answers once more on a TLS connection that was idle for long', async (t) => {
  const directory = directoryWithPairs(t)
  const [cert, key] = ['crt', 'key'].map((end) => readFileSync(join(directory, `a.${end}`), 'utf8'))
  const reply = async () => ({ status: 200, headers: { 'Content-Length': '4' }, body: 'done' })
  const { port, close } = await listen({ reply, port: 0, tls: { cert: cert ?? '', key: key ?? '' } })
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.match(String(await once(socket, 'data')), /Connection: keep-alive/)
  await sleep(700)
  const closed = close(600_000)
  await refusesConnections(port)
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
  const [answer] = parseAnswers(await readToEnd(socket))
  assert.deepEqual([answer?.status, answer?.headers.get('connection')], [200, 'close'])
  await closed
})
