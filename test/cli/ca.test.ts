import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, runInside, workDirectory } from './run-cli.ts'

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']

/** NAME.crt and NAME.key of an authority, and server.crt and server.key, which that authority has signed. */
function makeCertificates(directory: string): void {
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: directory, stdio: 'ignore' })
  for (const name of ['ca', 'other'])
    openssl('req', '-x509', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`)
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  openssl('req', '-x509', ...NEW_KEY, ...signed, '-keyout', 'server.key', '-out', 'server.crt', '-subj', '/CN=server')
}

/** A server whose certificate a private authority has signed; and its token. */
async function serve(t: TestContext) {
  const directory = workDirectory(t)
  makeCertificates(directory)
  await putLines(directory, 'events', eventLines(3), { keyField: 'id' })
  const { stdout } = await runInside(['token', 'create', '--name', 'a', '--scope', 'admin'], { in: directory })
  const words = [
    'serve',
    '--port',
    '0',
    '--log-requests',
    'none',
    '--tls-cert',
    'server.crt',
    '--tls-key',
    'server.key',
  ]
  const cli = new RunningCli(words, { in: directory })
  t.after(() => cli.child.kill('SIGKILL'))
  await cli.prints('Ctrl-C stops it.')
  const url = `${/https:\/\/[^/\s]+/.exec(cli.stdout)?.[0]}/events`
  const variables = { REAMS_TOKEN: stdout.trim() }
  // The program itself: Node.js reads NODE_EXTRA_CA_CERTS when it starts.
  const run = (words: string[], more: Record<string, string> = {}) =>
    runCli(words, { in: directory, variables: { ...variables, ...more } })
  return { directory, url, run }
}

describe('a server with a certificate of a private authority', () => {
  it('is read, written to, mirrored and checked with --ca, and only then', async (t) => {
    const { directory, url, run } = await serve(t)
    writeFileSync(join(directory, 'more.ndjson'), '{"id":"more"}\n')
    const commands: string[][] = [
      ['pull', url, '-o', 'copy.ndjson'],
      ['push', url, 'more.ndjson'],
      ['mirror', url, '--once', '--store', 'mirror.db'],
      ['check', url],
    ]
    for (const words of commands) {
      const refused = await run([...words, ...(words[0] === 'push' ? ['--retries', '0'] : [])])
      assert.equal(refused.status, 3, words[0])
      const said = refused.stderr + refused.stdout
      assert.match(
        said,
        /its certificate is signed by an unknown authority[.;] [Tt]o trust that authority, give its certificate: --ca FILE/,
        words[0],
      )
      assert.doesNotMatch(said, /Node/, words[0])
      const { status, stderr, stdout } = await run([...words, '--ca', 'ca.crt'])
      assert.equal(status, 0, `${words[0]}: ${stderr}${stdout}`)
    }
  })

  it('is not trusted because of another authority, which --ca adds to those that are trusted anyway', async (t) => {
    const { url, run } = await serve(t)
    const words = ['pull', url, '--retries', '0', '--ca', 'other.crt']
    assert.equal((await run(words)).status, 3)
    assert.equal((await run(words, { NODE_EXTRA_CA_CERTS: 'ca.crt' })).status, 0)
    assert.equal((await run(['pull', url], { REAMS_CA: 'ca.crt' })).status, 0)
  })

  it('needs a file with a certificate, and the message says which is wrong', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'text.pem'), 'hello\n')
    const pull = (file: string) => runInside(['pull', 'https://127.0.0.1:9/x', '--ca', file], { in: directory })
    assert.deepEqual(await pull('none.pem'), {
      status: 2,
      stdout: '',
      stderr: 'reams: Cannot read none.pem: ENOENT. Check the path after --ca, and that this user may read it.\n',
    })
    assert.match((await pull('text.pem')).stderr, /^reams: text\.pem is not a certificate in PEM form\. --ca takes /)
  })
})
