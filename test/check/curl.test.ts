import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'

import { createRequest, curlLine, type HttpRequest } from '../../src/check/http/response.ts'

/** Runs a line in a shell where `curl` prints the words that it got, and answers them. */
async function wordsOf(t: TestContext, line: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reams-curl-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'curl'), `#!/bin/sh\nfor word in "$@"; do printf '%s\\0' "$word"; done\n`, { mode: 0o755 })
  const env = { PATH: `${folder}:${process.env['PATH']}`, REAMS_TOKEN: 'secret "quoted" $HOME' }
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env, cwd: folder })
  return stdout.split('\0').slice(0, -1)
}

const EVENTS = 'https://api.example.com/events'

describe('the curl line', () => {
  const requests: [request: HttpRequest, words: string[]][] = [
    [createRequest(EVENTS), ['-si', EVENTS]],
    [createRequest(`${EVENTS}?page=2&limit=7`), ['-si', `${EVENTS}?page=2&limit=7`]],
    [createRequest(EVENTS, {}, 'HEAD'), ['-si', '--head', EVENTS]],
    [createRequest(EVENTS, {}, 'OPTIONS'), ['-si', '-X', 'OPTIONS', EVENTS]],
    [createRequest(EVENTS, { Accept: 'text/html, image/png' }), ['-si', '-H', 'Accept: text/html, image/png', EVENTS]],
    [createRequest(EVENTS, { 'If-None-Match': '"a", W/"b"' }), ['-si', '-H', 'If-None-Match: "a", W/"b"', EVENTS]],
    [
      createRequest(EVENTS, { 'If-None-Match': `"it's $HOME \`id\` \\ ! * ~"`, Host: 'x;y&z|w' }),
      ['-si', '-H', `If-None-Match: "it's $HOME \`id\` \\ ! * ~"`, '-H', 'Host: x;y&z|w', EVENTS],
    ],
    [createRequest('http://[::1]:8080/events'), ['-si', '-g', 'http://[::1]:8080/events']],
    [createRequest('http://h/a[1-3]?x={a,b}'), ['-si', '-g', 'http://h/a[1-3]?x={a,b}']],
    [createRequest("http://h/it's?page='$(id)'"), ['-si', "http://h/it's?page=%27$(id)%27"]],
    [createRequest('http://h/-si/--data?x=@/etc/passwd'), ['-si', 'http://h/-si/--data?x=@/etc/passwd']],
  ]
  for (const [request, words] of requests)
    it(`says the same to a shell: ${curlLine(request)}`, async (t) => {
      assert.deepEqual(await wordsOf(t, curlLine(request)), words)
    })

  it('takes the token from the environment', async (t) => {
    const line = curlLine(createRequest(EVENTS), true)
    assert.deepEqual(await wordsOf(t, line), ['-si', '-H', 'Authorization: Bearer secret "quoted" $HOME', EVENTS])
  })

  it('is one line without control characters, whatever a server made of the URL', () => {
    const line = curlLine(createRequest('http://h/a\n\u001b[2J\u0085\u202e b?x=\ty'))
    assert.equal(line, "curl -si -g 'http://h/a%1B[2J%C2%85%E2%80%AE%20b?x=y'")
    const withTag = curlLine(createRequest(EVENTS, { 'If-None-Match': '"\u009b31m"' }))
    assert.equal(withTag, `curl -si -H 'If-None-Match: "?31m"' '${EVENTS}'`)
  })
})
