import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { checkConformance, type Report, RULES } from '../../src/check/index.ts'
import { CorrectServer } from '../check/correct-server.ts'
import { type Handler, serve } from '../check/hostile-servers.ts'
import { JQ, lackOf } from '../faults/needs.ts'
import { fencesOf } from '../markdown.ts'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { directoryWith, refused, run } from './directory.ts'
import { type CliResult, RunningCli, runCli, startServer, workDirectory } from './run-cli.ts'

const TOKEN = 'secret-token-that-nobody-sees'

const check = (t: TestContext, words: string, variables: Record<string, string> = {}): Promise<CliResult> =>
  run(workDirectory(t), `check ${words}`, { variables })

const right: Handler = (_request, _response, answerRight) => answerRight()

/** 404 beyond the third page. */
const broken: Handler = ({ url = '' }, response, answerRight) =>
  /page=([4-9]|\d\d)/.test(url) ? response.writeHead(404).end() : answerRight()

/** Has 1,234 items and no ETags, which is against D16. */
class Untagged extends CorrectServer {
  constructor() {
    super({ items: 1234 })
  }

  override headers(...words: Parameters<CorrectServer['headers']>): Record<string, string> {
    const { ETag: _tag, ...others } = super.headers(...words)
    return others
  }
}

describe('check', () => {
  it('of our own server prints a line for each rule and a summary last, also of all collections', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const { status, stdout, stderr } = await check(t, `${url}/events`)
    assert.deepEqual([status, stderr], [0, ''])
    const lines = stdout.trimEnd().split('\n')
    assert.equal(lines[0], `${url}/events: 1,234 items, 3 pages`)
    for (const { id, title } of RULES)
      assert.equal(
        lines.filter((line) => /^ {2}(passed|skipped) /.test(line) && line.endsWith(` ${title}`)).length,
        1,
        id,
      )
    assert.match(lines.at(-1) ?? '', /^Passed: 26 rules passed, 2 skipped; \d+ requests in \d+(\.\d)? m?s\.$/)

    const all = await check(t, url)
    assert.equal(all.status, 0)
    assert.match(all.stdout, new RegExp(`^${url}/venues: unpaginated$`, 'm'))
    assert.match(all.stdout, /^ {2}skipped {2}\d+ rules because the collection is unpaginated: C2, C3, .*$/m)
    assert.match(all.stdout, /\nPassed: .* skipped \(one collection is unpaginated\), in 2 collections; .*\n$/)

    const named = await check(t, `${url} --collection venues --collection events --collection venues`)
    assert.deepEqual(named.stdout.match(/^http.*(?=:)/gm), [`${url}/venues`, `${url}/events`])
    const variables = { REAMS_COLLECTION: 'venues', REAMS_REPORT_FORMAT: 'json', REAMS_FORMAT: 'csv' }
    const report: Report = JSON.parse((await check(t, url, variables)).stdout)
    assert.equal(report.collections[0]?.url, `${url}/venues`)
    // Our own links change with the name of loopback.
    assert.equal((await check(t, `${url.replace('127.0.0.1', 'localhost')}/events --strict`)).status, 0)
  })

  it('of a server that breaks a rule has exit status 1, and says which', async (t) => {
    const { url } = await serve(t, broken, new Untagged())
    const { status, stdout } = await check(t, url)
    assert.equal(status, 1)
    const found = `curl -si '${url}?page=4'\n {16}expected {2}as page 3: 200 OK\n {16}got {7}404 Not Found\n`
    assert.match(stdout, new RegExp(`^ {2}failed {3}C7 {3}.*\n {16}${found.replaceAll('?', '\\?')}`, 'm'))
    assert.match(stdout, /\nFailed: 1 rule failed \(C7\), \d+ passed, \d+ gave a warning \(D.*\), 3 skipped; .*\n$/)
  })

  it('lets D rules warn, and decide with --strict', async (t) => {
    const { url } = await serve(t, right, new Untagged())
    const warned = await check(t, url)
    assert.equal(warned.status, 0)
    assert.match(warned.stdout, /^ {2}warning {2}D16 .*[\s\S]*\nPassed: /m)
    const strict = await check(t, `${url} --strict`)
    assert.equal(strict.status, 1)
    assert.match(strict.stdout, /^ {2}failed {3}D16 .*[\s\S]*\nFailed: /m)
    assert.equal((await check(t, url, { REAMS_STRICT: '1' })).status, 1)
  })

  it('of a server out of reach says so in a sentence, with what to do, exit status 3', async (t) => {
    const { status, stdout, stderr } = await check(t, 'http://127.0.0.1:1/events')
    assert.deepEqual([status, stderr], [3, ''])
    assert.match(
      stdout,
      /^http:\/\/127\.0\.0\.1:1\/events\n {2}No rule could be tried: no server listens there \(connection refused\)\.\n {2}Check the URL, or see for yourself: curl -si 'http:\/\/127\.0\.0\.1:1\/events'\n\nUndecided: 28 rules could not be judged; \d+ requests? in .*\n$/,
    )
  })

  it('with --walk reads every page', async (t) => {
    const pages = Array.from({ length: 20 }, (_, index) => index + 1)
    const { url, seen } = await serve(t, right, { items: 500 * pages.length })
    const hasRead = () => pages.filter((page) => seen.some((request) => request.url === `/events?page=${page}`))
    assert.equal((await check(t, url)).status, 0)
    assert.ok(hasRead().length < pages.length)
    assert.equal((await check(t, `${url} --walk`)).status, 0)
    assert.deepEqual(hasRead(), pages)
  })

  it('takes --base-url for the address that links should have', async (t) => {
    const server = new CorrectServer()
    const { url } = await serve(t, right, server)
    server.baseUrl = 'https://api.example.com'
    assert.equal((await check(t, url)).status, 1)
    assert.equal((await check(t, `${url} --base-url https://api.example.com/`)).status, 0)
  })

  it('keeps to --concurrency, --delay, --timeout, --time-limit and --answer-bytes', async (t) => {
    let [underWay, most] = [0, 0]
    const { url } = await serve(t, (_request, _response, answerRight) => {
      most = Math.max(most, ++underWay)
      setTimeout(() => {
        underWay--
        answerRight()
      }, 1)
    })
    assert.equal((await check(t, `${url} --concurrency 1 --delay 1`)).status, 0)
    assert.equal(most, 1)
    const small = await check(t, `${url} --answer-bytes 100`)
    assert.equal(small.status, 3)
    assert.match(small.stdout, /No rule could be tried: a body of more than 100 bytes\./)
    const { url: silent } = await serve(t, () => {})
    for (const limit of ['--timeout', '--time-limit']) {
      const { status, stdout } = await check(t, `${silent} ${limit} 1`)
      assert.equal(status, 3)
      assert.match(stdout, /^ {2}No rule could be tried: /m)
    }
  })

  it('that is interrupted ends at once, exit status 130, without a stack trace', async (t) => {
    const { promise: request, resolve: arrived } = Promise.withResolvers<void>()
    const { url } = await serve(t, () => arrived())
    const cli = new RunningCli(['check', url], { in: workDirectory(t) })
    t.after(() => cli.child.kill('SIGKILL'))
    await request
    const stderr = 'reams: interrupted by SIGINT; nothing was changed.\n'
    assert.deepEqual(await cli.stop('SIGINT'), { status: 130, stdout: '', stderr })
  })
})

describe('check --format json', () => {
  /** The paths of all fields: `rules[].id`. */
  function pathsOf(value: unknown, path = ''): string[] {
    if (Array.isArray(value)) return value.flatMap((each) => [`${path}[]`, ...pathsOf(each, `${path}[]`)])
    if (typeof value !== 'object' || value === null) return [path]
    return Object.entries(value).flatMap(([name, field]) => pathsOf(field, path === '' ? name : `${path}.${name}`))
  }

  it('prints the report of the library, with the fields that the reference names and no others', async (t) => {
    const { url } = await serve(t, broken, new Untagged())
    const { status, stdout } = await check(t, `${url} --format json`)
    assert.equal(status, 1)
    const report: Report = JSON.parse(stdout)
    assert.equal(stdout, `${JSON.stringify(report, null, 2)}\n`)
    const { collections, ...others } = await checkConformance(url)
    assert.deepEqual(report, { ...others, collections: report.collections })
    assert.equal(report.collections[0]?.item_count, collections[0]?.item_count)

    // One out of reach has notes, and so has an entry point to elsewhere.
    const unreachable = await check(t, 'http://127.0.0.1:1/x --format json')
    assert.equal(unreachable.status, 3)
    const { origin } = await serve(t, (_request, response) =>
      response.end('{"_links":{"collections":[{"href":"https://elsewhere.invalid/events"}]}}'),
    )
    const foreign = await check(t, `${origin} --format json`)
    const page = readFileSync(new URL('../../docs/reference/rules.md', import.meta.url), 'utf8')
    const [, section = ''] = page.split('## The report as JSON\n')
    const documented = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = '']) => path)
    const paths = [stdout, unreachable.stdout, foreign.stdout].flatMap((text) => pathsOf(JSON.parse(text)))
    assert.ok(documented.length > 20)
    assert.deepEqual([...new Set(paths)].toSorted(), documented.toSorted())
  })
})

it('the jq filter of the page about checking makes a test case of each rule', async (t) => {
  const lack = await lackOf([JQ])
  if (lack !== undefined) return t.skip(lack)
  const page = readFileSync(new URL('../../docs/how-to/check-a-server.md', import.meta.url), 'utf8')
  const filter = fencesOf(page).find(({ language }) => language === 'jq')?.text ?? ''
  const rule = { id: 'C1', title: 'a <b> & "c"', status: 'skip', judged: false, decides: true, detail: '' }
  const rules = [rule, { ...rule, status: 'fail', judged: true, detail: 'a "b" <c>' }, { ...rule, decides: false }]
  const input = JSON.stringify({ url: 'http://x', rules })
  const { stdout } = spawnSync('jq', ['-r', filter], { input, encoding: 'utf8' })
  const name = 'C1 a &lt;b&gt; &amp; &quot;c&quot;'
  assert.deepEqual(
    [...stdout.matchAll(/<testcase name="([^"]*)">\n(.*)/g)].map(([, ...parts]) => parts),
    [
      [name, '<error message=""/>'],
      [name, '<failure message="a &quot;b&quot; &lt;c&gt;"/>'],
      [name, '<skipped/>'],
    ],
  )
})

describe('check with a token', () => {
  /** Wants the token, and repeats it. */
  const guarded: Handler = (request, response, ...others) => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end()
    if (/page=[4-9]/.test(request.url ?? '')) response.statusMessage = TOKEN
    broken(request, response, ...others)
  }

  it('from a file or from REAMS_TOKEN sends it and never prints it; the file wins', async (t) => {
    const directory = directoryWith(t, { right: `  ${TOKEN}\n`, wrong: 'another' })
    const { url } = await serve(t, guarded)
    const inVariable = { variables: { REAMS_TOKEN: TOKEN } }
    for (const format of ['text', 'json'])
      for (const [words, options] of [[' --token-file right', {}] as const, ['', inVariable] as const]) {
        const { status, stdout, stderr } = await run(directory, `check ${url} --format ${format}${words}`, options)
        assert.equal(status, 1)
        assert.match(stdout, /Authorization: Bearer \$REAMS_TOKEN/)
        assert.doesNotMatch(stdout + stderr, /secret-token/)
      }
    const { status, stdout } = await run(directory, `check ${url} --token-file wrong`, inVariable)
    assert.equal(status, 3)
    assert.match(stdout, /No rule could be tried: 401 .*the token is refused/)
    assert.match(stdout, /see for yourself: curl -si -H "Authorization: Bearer \$REAMS_TOKEN" '/)
  })

  it('refuses what is no token, without printing it', async (t) => {
    const directory = workDirectory(t)
    const contents: [content: string, problem: string][] = [
      [' \n', 'is empty'],
      [`${TOKEN}\n${TOKEN}\n`, 'has more than one line'],
      [`Bearer ${TOKEN}`, 'contains spaces or other characters that no token has'],
      [`${TOKEN}\u0007`, 'contains spaces or other characters that no token has'],
      ['x'.repeat(20_000), 'holds more than 16384 bytes'],
    ]
    const words = 'check http://127.0.0.1:1/events'
    for (const [content, problem] of contents) {
      const message = `${problem}: expected a token and nothing else.`
      writeFileSync(join(directory, 'token'), content)
      await refused(directory, `${words} --token-file token`, 2, `token ${message}`)
      await refused(directory, words, 2, `REAMS_TOKEN ${message}`, { variables: { REAMS_TOKEN: content } })
    }
  })

  it('says which file is not there, is a directory or may not be read', async (t) => {
    const directory = directoryWith(t, { secret: TOKEN })
    chmodSync(join(directory, 'secret'), 0)
    const words = 'check http://127.0.0.1:1/events --token-file'
    const lack = lackOfOtherUser()
    if (lack !== undefined) t.diagnostic(`${lack}: a file without permission is left out`)
    else {
      const { stderr } = await runCli(`${words} secret`.split(' '), { in: directory, ...withoutRights() })
      assert.equal(stderr, 'reams: The token file secret cannot be read: no permission.\n')
    }
    await refused(directory, `${words} nope`, 2, 'There is no token file nope. Check the path.')
    await refused(directory, `${words} .`, 2, '. is a directory: expected a file with a token.')
  })
})

describe('check --explain', () => {
  it('prints the rule, why it exists, who is affected, a right and a wrong response, and what happens to the server', async (t) => {
    const ends = { C7: 'does not keep the contract.', C9: 'only gets a warning.', D7: 'fails only with --strict.' }
    for (const [id, end] of Object.entries(ends)) {
      const { status, stdout } = await check(t, `--explain ${id.toLowerCase()}`)
      assert.equal(status, 0)
      assert.ok(stdout.startsWith(`${id}  `) && stdout.endsWith(`${end}\n`), stdout)
      const { why, affects, right, wrong } = RULES.find((rule) => rule.id === id) ?? assert.fail(id)
      const text = stdout.replaceAll(/\s+/g, ' ')
      for (const part of [`Why: ${why}`, `Affects: ${affects}`, `Right: ${right}`, `Wrong: ${wrong}`])
        assert.ok(text.includes(part.replaceAll(/\s+/g, ' ')), part)
    }
  })
})

describe('check, used wrongly', () => {
  const url = 'http://127.0.0.1:1/events'
  const cases: [words: string, message: RegExp][] = [
    ['check', /^reams: The URL is missing: expected one such as /],
    [`check ${url} --explain C1`, /^reams: --explain checks nothing: /],
    ['check --explain C99', /^reams: There is no rule "C99"\. The rules are C1, C2, /],
    ['check events', /^reams: "events" is not an absolute URL\. /],
    ['check http://me:secret@127.0.0.1/events', /^reams: The URL contains a user name or a password(?!.*secret)/],
    [`check ${url} --format csv`, /^reams: Invalid --format "csv": expected one of text, json\.$/m],
  ]
  it('says what is wrong, exit status 2', async (t) => {
    for (const [words, message] of cases) await refused(workDirectory(t), words, 2, message)
  })
})
