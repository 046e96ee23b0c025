import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { runInside, workDirectory } from '../cli/run-cli.ts'
import { askedOf, CorrectServer } from './correct-server.ts'
import { listenOn } from './hostile-servers.ts'

/** For localhost and 127.0.0.1, signed by itself, until 2126. It guards nothing. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUSkBJDQWiJprwmC2szybmX104ekkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTA4MDUxMVoYDzIxMjYxMDIy
MDgwNTExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARKvAeXxnsU9RN593fnq6QvN4ZYMv7i3o7Ppeb+BrEVcNOoh1L+uyc+
QxQaf3GOKafDWYXeqx61yxKbXUMafcbuo28wbTAdBgNVHQ4EFgQUHJTwWIfyS8JG
vGU18WvhsfnoKeswHwYDVR0jBBgwFoAUHJTwWIfyS8JGvGU18WvhsfnoKeswDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgPcQuh4p3tYDIl6erIGnSNpw3tsQI86Yjxe3Yn+325pcCIEFk
ny+fKmifOcfYRgP/gIdCVkxHWTsTwKjgzZGNxA2b
-----END CERTIFICATE-----
`
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWUwBLD3uKv4e6wmA
PUqW5n8rBs76VWNEzIVLiCpcyqmhRANCAARKvAeXxnsU9RN593fnq6QvN4ZYMv7i
3o7Ppeb+BrEVcNOoh1L+uyc+QxQaf3GOKafDWYXeqx61yxKbXUMafcbu
-----END PRIVATE KEY-----
`

/** `hosts` has the Host header of every request. */
async function serve(t: TestContext, hostName: string, baseUrlOf: (host: string, own: string) => string) {
  const right = new CorrectServer({ items: 501 })
  const hosts: string[] = []
  const server = createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    const host = request.headers.host ?? ''
    hosts.push(host)
    right.baseUrl = baseUrlOf(`https://${host}`, `https://${hostName}:${port}`)
    const asked = askedOf(request)
    right.send(right.answer(asked), asked, response)
  })
  const { port } = new URL(await listenOn(t, server))
  return { port, hosts }
}

function check(t: TestContext, url: string, isTrusted: boolean) {
  const directory = workDirectory(t)
  const file = join(directory, 'signer.pem')
  writeFileSync(file, CERTIFICATE)
  return runInside(['check', url, '--strict', ...(isTrusted ? ['--ca', file] : [])], { in: directory })
}

describe('a server behind TLS', () => {
  for (const hostName of ['127.0.0.1', 'localhost'])
    it(`at ${hostName} keeps the contract, and is asked under a strange Host too`, async (t) => {
      const { port, hosts } = await serve(t, hostName, (_host, own) => own)
      const { status, stdout } = await check(t, `https://${hostName}:${port}/events`, true)
      assert.equal(status, 0, stdout)
      assert.ok(hosts.includes('reams-check.invalid'))
    })

  it('that takes its links from the Host breaks D17', async (t) => {
    const { port } = await serve(t, 'localhost', (host) => host)
    const { status, stdout } = await check(t, `https://localhost:${port}/events`, true)
    assert.equal(status, 1)
    assert.match(stdout, /failed {3}D17/)
  })

  it('whose certificate nobody knows cannot be judged, and the reason says what to do', async (t) => {
    const { port } = await serve(t, '127.0.0.1', (_host, own) => own)
    const { status, stdout } = await check(t, `https://127.0.0.1:${port}/events`, false)
    assert.equal(status, 3)
    assert.match(stdout, /certificate is signed by an unknown authority; to trust that authority, .* --ca FILE/)
  })
})
