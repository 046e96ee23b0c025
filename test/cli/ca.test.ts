import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { it } from 'node:test'
import { directoryWith, refused, run } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli } from './run-cli.ts'

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']

/** NAME.crt and NAME.key of an authority, and server.crt and server.key, which that authority has signed. */
function makeCertificates(directory: string): void {
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: directory, stdio: 'ignore' })
  for (const name of ['ca', 'other'])
    openssl('req', '-x509', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`)
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  openssl('req', '-x509', ...NEW_KEY, ...signed, '-keyout', 'server.key', '-out', 'server.crt', '-subj', '/CN=server')
}

it('a server with a certificate of a private authority is read, written to, mirrored and checked with --ca, and only then', async (t) => {
  const directory = directoryWith(t, { 'more.ndjson': '{"id":"more"}\n' })
  makeCertificates(directory)
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
