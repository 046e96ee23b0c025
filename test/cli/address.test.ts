import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkAddress, defaultBaseUrl, explainListenError, localUrl } from '../../src/cli/commands/serve/server.ts'
import { Failure } from '../../src/cli/failure.ts'
import { type Flags, SettingValues } from '../../src/cli/setting-values.ts'

function serveSettings(flags: Flags): SettingValues {
  return new SettingValues('serve', flags, {})
}

function systemError(code: string): Error {
  return Object.assign(new Error(`listen ${code}`), { code, syscall: 'listen' })
}

describe('the address of a server', () => {
  for (const host of ['127.0.0.1', 'localhost', '::1', '[::1]'])
    it(`${host} needs no base URL`, () => assert.doesNotThrow(() => checkAddress(serveSettings({ host }))))

  for (const host of ['0.0.0.0', '::', '127.0.0.2', 'example.com', 'localhost.example.com'])
    it(`${host} needs a base URL, and the message says how to give it`, () => {
      assert.throws(() => checkAddress(serveSettings({ host })), /--base-url/)
      assert.doesNotThrow(() => checkAddress(serveSettings({ host, baseUrl: 'https://example.com' })))
    })

  it('an IPv6 address stands in brackets, port 80 in no link', () => {
    assert.equal(localUrl('::1', 8080), 'http://[::1]:8080')
    assert.equal(defaultBaseUrl(80), 'http://127.0.0.1')
  })

  const reasons: [code: string, flags: Flags, message: RegExp][] = [
    ['EADDRINUSE', {}, /^Port 8080 on 127\.0\.0\.1 is in use\. .*--port 8081, or --port 0 /],
    ['EADDRINUSE', { port: '65535' }, /--port 8080, or --port 0 /],
    ['EACCES', { port: '80' }, /^No permission to listen on port 80 of 127\.0\.0\.1\. .*--port 8080/],
    ['EADDRNOTAVAIL', { host: '192.0.2.1' }, /^This machine has no address "192\.0\.2\.1"\. .*--host/],
    ['ENOTFOUND', { host: 'nope.invalid' }, /^This machine has no address "nope\.invalid"\. /],
  ]
  for (const [code, flags, message] of reasons)
    it(`${code} is explained, exit status 2`, () => {
      const failure = explainListenError(systemError(code), serveSettings(flags))
      assert.ok(failure instanceof Failure)
      assert.equal(failure.exitStatus, 2)
      assert.match(failure.message, message)
    })

  it('an error that is not of the system passes as it is', () => {
    const error = new Error('x')
    assert.equal(explainListenError(error, serveSettings({})), error)
  })
})
