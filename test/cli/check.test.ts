import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Report } from '../../src/check/index.ts'
import { RULES } from '../../src/check/index.ts'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { events, startHttp } from './check-server.ts'
import { RunningCli, runCli, startServer, workDirectory } from './run-cli.ts'

const TOKEN = 'secret-token-that-nobody-sees'

/** All that a terminal could act upon, but for the ends of lines. */
const STEERING = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

describe('check', () => {
  it('keeps the contract at localhost, where our own links change with the name of loopback', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const words = ['check', `${url.replace('127.0.0.1', 'localhost')}/events`, '--strict']
    const { status, stdout } = await runCli(words, { in: directory })
    assert.equal(status, 0, stdout)
  })

  it('of the sample prints a line a rule and a summary last, exit status 0', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const { status, stdout, stderr } = await runCli(['check', `${url}/events`], { in: directory })
    assert.equal(status, 0)
    assert.equal(stderr, '')
    const lines = stdout.trimEnd().split('\n')
    assert.equal(lines[0], `${url}/events: 1,234 items, 3 pages`)
    for (const { id, title } of RULES)
      assert.equal(
        lines.filter((line) => /^ {2}(pass|skip) {2}/.test(line) && line.endsWith(` ${title}`)).length,
        1,
        id,
      )
    assert.match(lines.at(-1) ?? '', /^Kept: 25 rules pass, 2 are skipped; \d+ requests in \d+(\.\d)? m?s\.$/)
  })

  it('of an entry point checks what it links, and says which of it is unpaginated', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const { status, stdout } = await runCli(['check', url], { in: directory })
    assert.equal(status, 0)
    assert.match(stdout, new RegExp(`^${url}/events: 1,234 items, 3 pages$`, 'm'))
    assert.match(stdout, new RegExp(`^${url}/venues: unpaginated$`, 'm'))
    assert.match(stdout, /^ {2}The collection is unpaginated: /m)
    assert.match(stdout, /^ {2}skip {2}C7 .*\n {13}skipped: the collection is unpaginated$/m)
    assert.match(stdout, /\nKept: .* are skipped \(one collection is unpaginated\), in 2 collections; .*\n$/)
  })

  it('takes collections by name, each once', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const words = ['--collection', 'venues', '--collection', 'events', '--collection', 'venues']
    const { status, stdout } = await runCli(['check', url, ...words], { in: directory })
    assert.equal(status, 0)
    assert.deepEqual(stdout.match(/^http.*(?=:)/gm), [`${url}/venues`, `${url}/events`])
  })

  it('shows of a broken rule the request, what was expected, what came and who is hurt, exit status 1', async (t) => {
    const url = await startHttp(t, events({ beyond: (_request, response) => response.writeHead(404).end() }))
    const { status, stdout } = await runCli(['check', `${url}/events`], { in: workDirectory(t) })
    assert.equal(status, 1)
    const [, found = ''] = /^ {2}fail {2}C7 {3}.*\n((?: {13}.*\n)+)/m.exec(stdout) ?? []
    const lines = found.trimEnd().split('\n')
    assert.deepEqual(lines.slice(0, 3), [
      `             curl -si '${url}/events?page=4'`,
      '             expected  as page 3: 200 OK',
      '             came      404 Not Found',
    ])
    assert.equal(lines.filter((line) => line.includes('curl ')).length, 3)
    assert.equal(lines.at(-2), '             and 2 more')
    assert.match(lines.at(-1) ?? '', /^ {13}hurts {5}a client that asks for a page that has just gone/)
    assert.match(stdout, /\nBroken: 1 rule fails \(C7\), \d+ pass, \d+ warn \(D3, .*\), 2 are skipped; .*\n$/)
  })

  it('lets D rules warn, and decide with --strict', async (t) => {
    const directory = workDirectory(t)
    const url = await startHttp(t, events())
    const warned = await runCli(['check', `${url}/events`], { in: directory })
    assert.equal(warned.status, 0)
    assert.match(warned.stdout, /^ {2}warn {2}D16 /m)
    assert.match(warned.stdout, /\nKept: /)
    const strict = await runCli(['check', `${url}/events`, '--strict'], { in: directory })
    assert.equal(strict.status, 1)
    assert.match(strict.stdout, /^ {2}fail {2}D16 /m)
    assert.match(strict.stdout, /\nBroken: /)
    assert.equal(
      (await runCli(['check', `${url}/events`], { in: directory, variables: { REAMS_STRICT: '1' } })).status,
      1,
    )
  })

  it('of a server out of reach says so in a sentence, with what to do, exit status 3', async (t) => {
    const { status, stdout, stderr } = await runCli(['check', 'http://127.0.0.1:1/events'], { in: workDirectory(t) })
    assert.equal(status, 3)
    assert.equal(stderr, '')
    assert.match(
      stdout,
      /^http:\/\/127\.0\.0\.1:1\/events\n {2}No rule could be tried: nobody listens there \(connection refused\)\.\n {2}Check the URL, or see for yourself: curl -si 'http:\/\/127\.0\.0\.1:1\/events'\n\nCould not judge: 27 rules were not tried; \d+ requests? in .*\n$/,
    )
  })

  it('with --walk reads every page', async (t) => {
    const asked = new Set<string>()
    const answer = events({ items: 25_000 })
    const url = await startHttp(t, (request, response) => {
      asked.add(request.url ?? '')
      answer(request, response)
    })
    const { status } = await runCli(['check', `${url}/events`, '--walk'], { in: workDirectory(t) })
    assert.equal(status, 0)
    for (let page = 1; page <= 50; page++) assert.ok(asked.has(`/events?page=${page}`), String(page))
  })

  it('takes --base-url for the address that links should have', async (t) => {
    const directory = workDirectory(t)
    const url = await startHttp(t, events({ baseUrl: 'https://api.example.com' }))
    assert.equal((await runCli(['check', `${url}/events`], { in: directory })).status, 1)
    const words = ['check', `${url}/events`, '--base-url', 'https://api.example.com/']
    assert.equal((await runCli(words, { in: directory })).status, 0)
  })

  it('keeps to --concurrency and --requests', async (t) => {
    const answer = events()
    let [requests, underWay, most] = [0, 0, 0]
    const url = await startHttp(t, (request, response) => {
      requests++
      most = Math.max(most, ++underWay)
      setTimeout(() => {
        underWay--
        answer(request, response)
      }, 5)
    })
    const words = ['check', `${url}/events`, '--concurrency', '1', '--requests', '12', '--delay', '1']
    const { status, stdout } = await runCli(words, { in: workDirectory(t) })
    assert.equal(status, 3)
    assert.equal(most, 1)
    assert.ok(requests <= 12, String(requests))
    assert.match(stdout, /\nCould not judge: \d+ rules were not tried/)
  })

  for (const words of [
    ['--timeout', '1'],
    ['--time-limit', '1'],
  ])
    it(`ends with ${words.join(' ')} where no answer comes, exit status 3`, async (t) => {
      const url = await startHttp(t, () => {})
      const { status, stdout } = await runCli(['check', `${url}/events`, ...words], { in: workDirectory(t) })
      assert.equal(status, 3)
      assert.match(stdout, /^ {2}No rule could be tried: /m)
    })

  it('reads no answer that is larger than --answer-bytes', async (t) => {
    const url = await startHttp(t, events())
    const words = ['check', `${url}/events`, '--answer-bytes', '100']
    const { status, stdout } = await runCli(words, { in: workDirectory(t) })
    assert.equal(status, 3)
    assert.match(stdout, /No rule could be tried: a body of more than 100 bytes\./)
  })

  it('takes its settings from the environment too', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const variables = { REAMS_COLLECTION: 'venues, events', REAMS_REPORT_FORMAT: 'json', REAMS_FORMAT: 'csv' }
    const report: Report = JSON.parse((await runCli(['check', url], { in: directory, variables })).stdout)
    assert.deepEqual(
      report.collections.map((collection) => collection.url),
      [`${url}/venues`, `${url}/events`],
    )
  })

  it('that is interrupted ends at once, exit status 130, without a stack trace', async (t) => {
    let arrived = () => {}
    const request = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const url = await startHttp(t, () => arrived())
    const cli = new RunningCli(['check', `${url}/events`], { in: workDirectory(t) })
    t.after(() => cli.child.kill('SIGKILL'))
    await request
    const result = await cli.stop('SIGINT')
    assert.deepEqual(result, {
      status: 130,
      stdout: '',
      stderr: 'reams: interrupted by SIGINT; nothing was changed.\n',
    })
  })

  for (const format of ['text', 'json', 'junit'])
    it(`as ${format} prints nothing of a hostile server that could steer a terminal`, async (t) => {
      const nasty = '\u001b[31m\u009b2J\u0007\u202e\u2028\u0000'
      const header = '\u009b31m'
      const answer = events({
        links: { self: { href: nasty }, [nasty]: nasty },
        beyond: (_request, response) => response.writeHead(404, { 'content-type': header }).end(nasty),
      })
      const url = await startHttp(t, (request, response) => {
        response.setHeader('etag', `"${header}"`)
        response.setHeader('vary', header)
        if (request.url?.startsWith('/events')) return answer(request, response)
        const type = `http://${request.headers.host}/${nasty}`
        response.writeHead(404, { 'content-type': 'application/problem+json' })
        response.end(JSON.stringify({ type, title: nasty, status: 404, detail: nasty }))
      })
      const { status, stdout, stderr } = await runCli(['check', `${url}/events`, '--format', format], {
        in: workDirectory(t),
      })
      assert.equal(status, 1)
      assert.doesNotMatch(stdout, STEERING)
      assert.equal(stderr, '')
    })
})

describe('check with a token', () => {
  /** Wants the token, and repeats it wherever it can. */
  function guarded() {
    const answer = events({
      links: { [`echo-${TOKEN}`]: TOKEN },
      beyond: (_request, response) => response.writeHead(404, TOKEN).end(`${'x'.repeat(85)}${TOKEN}`),
    })
    return (...[request, response]: Parameters<typeof answer>) => {
      response.setHeader('content-type', `text/${TOKEN}`)
      if (request.headers.authorization === `Bearer ${TOKEN}`) answer(request, response)
      else response.writeHead(401).end()
    }
  }

  for (const format of ['text', 'json', 'junit'])
    it(`from a file sends it and, as ${format}, never prints it`, async (t) => {
      const directory = workDirectory(t)
      writeFileSync(join(directory, 'token'), `  ${TOKEN}\n`)
      const url = await startHttp(t, guarded())
      const words = ['check', `${url}/events`, '--token-file', 'token', '--format', format]
      const { status, stdout, stderr } = await runCli(words, { in: directory })
      assert.equal(status, 1)
      assert.match(stdout, /Authorization: Bearer \$REAMS_TOKEN/)
      assert.doesNotMatch(stdout + stderr, /secret-token/)
    })

  it('from REAMS_TOKEN sends it; a file wins over it', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'token'), 'another')
    const url = await startHttp(t, guarded())
    const variables = { REAMS_TOKEN: TOKEN }
    assert.equal((await runCli(['check', `${url}/events`], { in: directory, variables })).status, 1)
    const words = ['check', `${url}/events`, '--token-file', 'token']
    const { status, stdout } = await runCli(words, { in: directory, variables })
    assert.equal(status, 3)
    assert.match(stdout, /No rule could be tried: 401 .*the token is refused/)
    assert.match(stdout, /see for yourself: curl -si -H "Authorization: Bearer \$REAMS_TOKEN" '/)
  })

  const files: [content: string, message: string][] = [
    ['', 'token is empty. Put a token into it.'],
    [' \n', 'token is empty. Put a token into it.'],
    [`${TOKEN}\n${TOKEN}\n`, 'token has more than one line. Put the token alone there.'],
    [`Bearer ${TOKEN}`, 'token holds blanks or other characters that no token has. Put the token alone there.'],
    [`${TOKEN}\u0007`, 'token holds blanks or other characters that no token has. Put the token alone there.'],
    ['x'.repeat(20_000), 'token holds more than 16384 bytes, too many for a token. Put the token alone there.'],
  ]
  for (const [content, message] of files)
    it(`refuses a file with ${JSON.stringify(content.slice(0, 40))}`, async (t) => {
      const directory = workDirectory(t)
      writeFileSync(join(directory, 'token'), content)
      const words = ['check', 'http://127.0.0.1:1/events', '--token-file', 'token']
      const result = await runCli(words, { in: directory })
      assert.deepEqual(result, { status: 2, stdout: '', stderr: `reams: ${message}\n` })
    })

  it('refuses a variable that holds no token, without printing it', async (t) => {
    const variables = { REAMS_TOKEN: `${TOKEN}\nx` }
    const result = await runCli(['check', 'http://127.0.0.1:1/events'], { in: workDirectory(t), variables })
    const stderr = 'reams: REAMS_TOKEN has more than one line. Put the token alone there.\n'
    assert.deepEqual(result, { status: 2, stdout: '', stderr })
  })

  it('says which file is not there, is a directory or may not be read', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'secret'), TOKEN)
    chmodSync(join(directory, 'secret'), 0)
    const words = ['check', 'http://127.0.0.1:1/events', '--token-file']
    const lack = lackOfOtherUser()
    if (lack !== undefined) t.diagnostic(`${lack}: a file without permission is left out`)
    else {
      const { stderr } = await runCli([...words, 'secret'], { in: directory, ...withoutRights() })
      assert.equal(stderr, 'reams: The token file secret cannot be read: no permission.\n')
    }
    const missing = await runCli([...words, 'nope'], { in: directory })
    assert.deepEqual(missing, {
      status: 2,
      stdout: '',
      stderr: 'reams: There is no token file nope. Check the path.\n',
    })
    const folder = await runCli([...words, '.'], { in: directory })
    assert.deepEqual(folder, {
      status: 2,
      stdout: '',
      stderr: 'reams: . is a directory. Give a file that holds a token.\n',
    })
  })
})

describe('check --explain', () => {
  it('prints the rule, why it is there, who is hurt, a right and a wrong answer', async (t) => {
    const directory = workDirectory(t)
    for (const { id, why, hurts, right, wrong } of RULES.filter((rule) => ['C7', 'D14'].includes(rule.id))) {
      const { status, stdout } = await runCli(['check', '--explain', id.toLowerCase()], { in: directory })
      assert.equal(status, 0)
      assert.ok(stdout.startsWith(`${id}  `))
      const text = stdout.replaceAll(/\s+/g, ' ')
      for (const part of [`Why: ${why}`, `Hurts: ${hurts}`, `Right: ${right}`, `Wrong: ${wrong}`])
        assert.ok(text.includes(part.replaceAll(/\s+/g, ' ')), part)
    }
  })

  it('is refused together with a URL, which it would not check', async (t) => {
    let requests = 0
    const url = await startHttp(t, () => requests++)
    const { status, stderr } = await runCli(['check', url, '--explain', 'C1'], { in: workDirectory(t) })
    assert.deepEqual([status, requests], [2, 0])
    assert.match(stderr, /a URL and --explain/)
  })

  it('of a rule that there is not lists those that there are, exit status 2', async (t) => {
    const result = await runCli(['check', '--explain', 'C99'], { in: workDirectory(t) })
    const ids = RULES.map(({ id }) => id).join(', ')
    assert.deepEqual(result, {
      status: 2,
      stdout: '',
      stderr: `reams: There is no rule "C99". The rules are ${ids}.\n`,
    })
  })
})

describe('check, used wrongly', () => {
  const cases: [words: string[], message: RegExp][] = [
    [[], /^reams: There is no URL to check\. Give one such as /],
    [['events'], /^reams: "events" is not an absolute URL\. Give one such as /],
    [['ftp://127.0.0.1/events'], /^reams: "ftp:.*" does not begin with http: or https:/],
    [['http://127.0.0.1/events?page=2'], /^reams: .* has a query or a fragment/],
    [['http://me:secret@127.0.0.1/events'], /^reams: The URL holds a user name or password/],
    [['http://127.0.0.1/a', 'http://127.0.0.1/b'], /^reams: too many arguments for 'check'/],
    [['http://127.0.0.1/a', '--format', 'csv'], /^reams: "--format csv" .* Give one of text, json, junit\.$/m],
    [['http://127.0.0.1/a', '--collection', ''], /^reams: "--collection " is not possible\. Give a name/],
    [['http://127.0.0.1/a', '--collection', '..'], /^reams: "--collection \.\." is not possible\. Give a name/],
    [['http://127.0.0.1/a', '--requests', '0'], /^reams: "--requests 0" .* from 1 to 1000000\.$/m],
    [['http://127.0.0.1/a', '--concurrency', 'x'], /^reams: "--concurrency x" .* from 1 to 100\.$/m],
    [['http://127.0.0.1/a', '--delay', '-1'], /^reams: "--delay -1" .* from 0 to 3600000\.$/m],
    [['http://127.0.0.1/a', '--timeout', '0.5'], /^reams: "--timeout 0\.5" .* from 1 to 86400\.$/m],
    [['http://127.0.0.1/a', '--time-limit', '1e3'], /^reams: "--time-limit 1e3" .* from 1 to 604800\.$/m],
    [['http://127.0.0.1/a', '--answer-bytes', '0'], /^reams: "--answer-bytes 0" .* from 1 to 500000000\.$/m],
    [['http://127.0.0.1/a', '--base-url', 'x'], /^reams: --base-url: The base URL "x" /],
  ]
  for (const [words, message] of cases)
    it(`reams check ${words.join(' ')}: says what is wrong, exit status 2`, async (t) => {
      const result = await runCli(['check', ...words], { in: workDirectory(t) })
      assert.equal(result.status, 2)
      assert.match(result.stderr, message)
      assert.doesNotMatch(result.stderr, /secret/)
      assert.equal(result.stdout, '')
    })
})
