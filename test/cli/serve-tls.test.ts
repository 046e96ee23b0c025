import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { listen } from '../../src/service/node/listen.ts'
import { listenOn } from '../check/hostile-servers.ts'
import { parseAnswers, readToEnd, refusesConnections } from '../service/raw-http.ts'
import { waitUntil } from '../wait-until.ts'
import { directoryWith, refused, run } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, startServer, suiteScope, workDirectory } from './run-cli.ts'

/** NAME.crt and NAME.key, made for localhost and 127.0.0.1. */
function makePair(directory: string, name: string, ...signed: string[]): void {
  const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`]
  const alternatives = name === 'ca' ? [] : ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const subject = ['-subj', `/CN=${name}`, ...alternatives, '-days', '2']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const words = ['req', '-x509', ...key, ...signed, ...files, ...subject]
  execFileSync('openssl', words, { cwd: directory, stdio: 'ignore' })
}

const scope = suiteScope()
/** With the pairs a and b, and files that are no good. */
const pairs = workDirectory(scope)

before(() => {
  for (const name of ['a', 'b', 'expired']) makePair(pairs, name)
  const request = ['x509', '-x509toreq', '-in', 'expired.crt', '-signkey', 'expired.key', '-out', 'expired.csr']
  const signed = ['x509', '-req', '-in', 'expired.csr', '-signkey', 'expired.key', '-days', '-1', '-out', 'expired.crt']
  const encrypt = ['pkcs8', '-topk8', '-in', 'a.key', '-out', 'locked.key', '-passout', 'pass:secret']
  for (const words of [request, signed, encrypt]) execFileSync('openssl', words, { cwd: pairs, stdio: 'ignore' })
  writeFileSync(join(pairs, 'text'), 'nonsense')
})

const fileOf = (name: string) => readFileSync(join(pairs, name))

/** The certificate and the key that a server in the directory has from now on. */
function use(directory: string, name: string): void {
  for (const end of ['crt', 'key']) copyFileSync(join(pairs, `${name}.${end}`), join(directory, `tls.${end}`))
}

async function startTls(t: TestContext, pair: string, ...words: string[]) {
  const directory = workDirectory(t)
  use(directory, pair)
  await putLines(directory, 'events', eventLines(1200))
  const usual = ['--log-requests', 'none', '--tls-cert', 'tls.crt', '--tls-key', 'tls.key']
  return { directory, ...(await startServer(t, [...usual, ...words], { in: directory })) }
}

/** The body, over a connection of its own that trusts this certificate alone. */
async function ask(name: string, url: string): Promise<string> {
  const request = get(url, { ca: fileOf(`${name}.crt`), agent: false })
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

async function portOf(t: TestContext, server: Server): Promise<number> {
  return Number(new URL(await listenOn(t, server)).port)
}

/** The first bytes of a handshake. */
async function firstBytes(t: TestContext): Promise<Buffer> {
  const catcher = createServer()
  const port = await portOf(t, catcher)
  const client = connectTls({ ...TRUSTING, port }).on('error', () => {})
  const [socket] = (await once(catcher, 'connection')) as [Socket]
  const [bytes] = await once(socket, 'data')
  client.destroy()
  socket.destroy()
  return bytes
}

/** Others are served between many handshakes that stall, while the certificate changes. */
async function serveBetweenStalled(t: TestContext, { cli, port, directory }: Awaited<ReturnType<typeof startTls>>) {
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
}

/** A port that sends each handshake on to the server byte by byte. */
async function splitHandshakes(t: TestContext, port: number): Promise<number> {
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
  })
  return portOf(t, splitter)
}

describe('serve with TLS', () => {
  for (const workers of ['1', '2'])
    it(`answers over https, also between stalled handshakes, and reads the files again on SIGHUP, with --workers ${workers}`, async (t) => {
      const server = await startTls(t, 'a', '--workers', workers)
      const { cli, url, directory } = server
      const page = JSON.parse(await ask('a', `${url}/events?page=2`))
      assert.equal(page._links.next.href, `${url}/events?page=3`)
      assert.ok((await ask('a', `${url.replace('127.0.0.1', 'localhost')}/events`)).includes('https://localhost:'))

      writeFileSync(join(directory, 'tls.crt'), 'nonsense')
      cli.child.kill('SIGHUP')
      await waitUntil(() => cli.stderr.includes('\n'))
      assert.match(
        cli.stderr,
        /"msg":"tls\.crt is not a certificate .* goes on with the certificate that it has\."}\n$/,
      )
      await ask('a', `${url}/events`)

      use(directory, 'b')
      cli.child.kill('SIGHUP')
      await waitUntil(() => cli.stderr.endsWith('The TLS certificate was read again."}\n'))
      await waitUntil(() => ask('b', `${url}/events`).then(Boolean, () => false))
      await serveBetweenStalled(t, server)
      assert.equal((await cli.stop()).status, 0)
    })

  it('answers unusual clients or refuses them, closes what is not TLS, and warns of a certificate that has expired', async (t) => {
    const { cli, port } = await startTls(t, 'expired')
    const [cert, key] = [fileOf('b.crt'), fileOf('b.key')]
    const answered: ConnectionOptions[] = [
      { servername: '' },
      { servername: `${'a'.repeat(60)}.${'b'.repeat(190)}` },
      { servername: '..%00;' },
      { maxVersion: 'TLSv1.2' },
      { ALPNProtocols: ['h2', 'http/1.1'] },
      { cert, key },
      { port: await splitHandshakes(t, port) },
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

    const silent = connect(port, '127.0.0.1').on('error', () => {})
    await once(silent, 'connect')
    assert.equal(await statusOver(await handshake(port, {})), '200')
    const { status, stderr } = await cli.stop()
    assert.equal(status, 0)
    assert.match(stderr, /^{"level":"warn".*The certificate in tls\.crt expired on .*: renew it.*\n$/)
  })

  it('says what is wrong with the files', async () => {
    await putLines(pairs, 'events', eventLines(1))
    const wrong: [words: string, message: RegExp][] = [
      ['--tls-cert a.crt', /needs both --tls-cert and --tls-key/],
      ['--tls-key a.key', /needs both --tls-cert and --tls-key/],
      ['--tls-cert no.crt --tls-key a.key', /Cannot read no\.crt: ENOENT\. Check the path after --tls-cert/],
      ['--tls-cert a.crt --tls-key no.key', /Cannot read no\.key: ENOENT\. Check the path after --tls-key/],
      ['--tls-cert tmp --tls-key a.key', /tmp is not a file\. Give a file after --tls-cert/],
      ['--tls-cert text --tls-key a.key', /text is not a certificate in PEM form/],
      ['--tls-cert a.crt --tls-key text', /text is not a private key in PEM form/],
      ['--tls-cert a.crt --tls-key b.key', /The certificate in a\.crt does not fit the key in b\.key/],
      ['--tls-cert a.crt --tls-key locked.key', /The key in locked\.key is encrypted.*openssl pkey/],
    ]
    for (const [words, message] of wrong) await refused(pairs, `serve --port 0 ${words}`, 2, message)
  })
})

const pairA = () => ({ cert: String(fileOf('a.crt')), key: String(fileOf('a.key')) })

it('a client that never finishes the TLS handshake is disconnected in time', async (t) => {
  const { port, close } = await listen({
    reply: () => assert.fail(),
    port: 0,
    headersTimeoutMs: 100,
    tls: pairA(),
  })
  t.after(() => close(0))
  const silent = connect(port, '127.0.0.1').on('error', () => {})
  await once(silent.resume(), 'close')
})

it('a closing server answers once more on a TLS connection that was idle for long', async () => {
  const reply = async () => ({ status: 200, headers: { 'Content-Length': '4' }, body: 'done' })
  const { port, close } = await listen({ reply, port: 0, tls: pairA() })
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

/** NAME.crt and NAME.key of two authorities, and server.crt and server.key, which `ca` has signed. */
function makeAuthorities(directory: string): void {
  for (const name of ['ca', 'other']) makePair(directory, name)
  makePair(directory, 'server', '-CA', 'ca.crt', '-CAkey', 'ca.key')
}

it('a server with a certificate of a private authority is read, written to, mirrored and checked with --ca, and only then', async (t) => {
  const directory = directoryWith(t, { 'more.ndjson': '{"id":"more"}\n' })
  makeAuthorities(directory)
  await putLines(directory, 'events', eventLines(3), { keyField: 'id' })
  const token = (await run(directory, 'token create --name a --scope admin')).stdout.trim()
  const words = 'serve --port 0 --log-requests none --tls-cert server.crt --tls-key server.key'
  const cli = new RunningCli(words.split(' '), { in: directory })
  t.after(() => cli.child.kill('SIGKILL'))
  await cli.prints('Ctrl-C stops it.')
  const url = `${/https:\/\/[^/\s]+/.exec(cli.stdout)?.[0]}/events`
  const variables = { REAMS_TOKEN: token }
  const commands = [
    `pull ${url} -o copy.ndjson`,
    `push ${url} more.ndjson --retries 0`,
    `mirror ${url} --once --store mirror.db`,
    `check ${url}`,
  ]
  for (const words of commands) {
    const refused = await run(directory, words, { variables })
    assert.equal(refused.status, 3, words)
    const said = refused.stderr + refused.stdout
    assert.match(
      said,
      /its certificate is signed by an unknown authority[.;] [Tt]o trust that authority, give its certificate: --ca FILE/,
      words,
    )
    assert.doesNotMatch(said, /Node/, words)
    const { status, stderr, stdout } = await run(directory, `${words} --ca ca.crt`, { variables })
    assert.equal(status, 0, `${words}: ${stderr}${stdout}`)
  }
  const ofOther = ['pull', url, '--retries', '0', '--ca', 'other.crt']
  assert.equal((await run(directory, ofOther, { variables })).status, 3)
  // The program itself: Node.js reads this variable when it starts. Authorities of --ca come to those that are trusted anyway.
  const trusting = { ...variables, NODE_EXTRA_CA_CERTS: 'ca.crt' }
  assert.equal((await runCli(ofOther, { in: directory, variables: trusting })).status, 0)
  assert.equal((await run(directory, ['pull', url], { variables: { ...variables, REAMS_CA: 'ca.crt' } })).status, 0)
})

it('--ca needs a file with a certificate, and the message says which is wrong', async (t) => {
  const directory = directoryWith(t, { 'text.pem': 'hello\n' })
  const pull = 'pull https://127.0.0.1:9/x --ca'
  const advice = 'Check the path after --ca, and that this user may read it.'
  await refused(directory, `${pull} none.pem`, 2, `Cannot read none.pem: ENOENT. ${advice}`)
  await refused(directory, `${pull} text.pem`, 2, /^reams: text\.pem is not a certificate in PEM form\. --ca takes /)
})
