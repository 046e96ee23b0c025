import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Report } from '../../src/check/index.ts'
import { RULES } from '../../src/check/index.ts'
import { reportJunit } from '../../src/cli/check/junit.ts'
import { events, startHttp } from './check-server.ts'
import { runCli, startServer, workDirectory } from './run-cli.ts'

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

/** Reads the part of XML that a report needs, and takes nothing that is not well-formed. */
function parseXml(xml: string): Element {
  assert.doesNotMatch(xml, /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u, 'a character that XML has not')
  const [declaration = '', ...rest] = xml.split('\n')
  assert.equal(declaration, '<?xml version="1.0" encoding="UTF-8"?>')
  const document: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [document]
  for (const [piece] of rest.join('\n').matchAll(/<[^>]*>|[^<]+/g)) {
    const parent = open.at(-1) ?? document
    if (!piece.startsWith('<')) parent.text += unescapeXml(piece)
    else if (piece.startsWith('</')) assert.equal(open.pop()?.name, piece.slice(2, -1))
    else {
      const [, name = '', given = '', slash] =
        /^<([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>$/.exec(piece) ?? assert.fail(piece)
      const pairs = [...given.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        unescapeXml(value),
      ])
      const element: Element = { name, attributes: Object.fromEntries(pairs), children: [], text: '' }
      parent.children.push(element)
      if (slash === '') open.push(element)
    }
  }
  assert.deepEqual(open, [document])
  const [root] = document.children
  assert.ok(root !== undefined && document.children.length === 1 && document.text.trim() === '')
  return root
}

function unescapeXml(text: string): string {
  assert.doesNotMatch(text, /&(?!(amp|lt|gt|quot|apos);)/)
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replaceAll(/&([a-z]+);/g, (_, name: string) => characters[name] ?? '')
}

function childrenNamed({ children }: Element, name: string): Element[] {
  return children.filter((child) => child.name === name)
}

describe('a report as JUnit XML', () => {
  it('has a suite a collection and a test case a rule, and counts them', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const { status, stdout } = await runCli(['check', url, '--format', 'junit'], { in: directory })
    assert.equal(status, 0)
    const root = parseXml(stdout)
    const { time = '', ...counts } = root.attributes
    assert.match(time, /^\d+\.\d{3}$/)
    assert.deepEqual(counts, { name: 'reams check', tests: '54', failures: '0', errors: '0', skipped: '15' })
    assert.deepEqual(
      root.children.map(({ attributes }) => attributes),
      [
        { name: `${url}/events`, tests: '27', failures: '0', errors: '0', skipped: '2' },
        { name: `${url}/venues`, tests: '27', failures: '0', errors: '0', skipped: '13' },
      ],
    )
    for (const suite of root.children)
      assert.deepEqual(
        childrenNamed(suite, 'testcase').map(({ attributes }) => attributes),
        RULES.map(({ id, title }) => ({ classname: suite.attributes['name'], name: `${id} ${title}` })),
      )
  })

  it('shows a failure with what was found, and a warning as a test that passed', async (t) => {
    const url = await startHttp(t, events({ beyond: (_request, response) => response.writeHead(404).end() }))
    const { status, stdout } = await runCli(['check', `${url}/events`, '--format', 'junit'], { in: workDirectory(t) })
    assert.equal(status, 1)
    const [suite] = parseXml(stdout).children
    assert.equal(suite?.attributes['failures'], '1')
    assert.match(suite?.attributes['time'] ?? '', /^\d+\.\d{3}$/)
    const testcase = (id: string) => suite?.children.find(({ attributes }) => attributes['name']?.startsWith(`${id} `))
    const failure = testcase('C7')?.children[0]
    assert.equal(failure?.name, 'failure')
    assert.deepEqual(failure?.attributes, { message: 'expected as page 3: 200 OK; came 404 Not Found', type: 'C7' })
    assert.match(failure?.text ?? '', /^curl -si 'http:.*page=4'\nexpected as page 3: 200 OK\ncame 404 Not Found\n/)
    assert.match(failure?.text ?? '', /\nhurts a client that asks/)
    const warning = testcase('D16')?.children[0]
    assert.equal(warning?.name, 'system-out')
    assert.match(warning?.text ?? '', /^warning:\ncurl -si /)
    assert.deepEqual(testcase('C1')?.children, [])
    assert.deepEqual(testcase('D5')?.children[0]?.attributes, { message: 'the collection is not empty' })
  })

  it('calls what could not be judged an error', async (t) => {
    const words = ['check', 'http://127.0.0.1:1/events', '--format', 'junit']
    const { status, stdout } = await runCli(words, { in: workDirectory(t) })
    assert.equal(status, 3)
    const [suite] = parseXml(stdout).children
    // As the exit status: C rules decide, D rules do not.
    assert.equal(suite?.attributes['errors'], '10')
    assert.equal(suite?.attributes['skipped'], '17')
    const [first] = suite?.children ?? []
    assert.equal(first?.children[0]?.name, 'error')
    assert.match(first?.children[0]?.attributes['message'] ?? '', /^not judged: nobody listens there/)
  })

  it('stays well-formed whatever a server says', () => {
    const nasty = `<&>"']]>\u0000\u001b\ufffe\uffff\ud800\n\t\u2028😀`
    const findings = [{ request: nasty, expected: nasty, came: nasty }]
    const rule = {
      title: nasty,
      detail: nasty,
      request: nasty,
      collection: nasty,
      hurts: nasty,
      judged: true,
      decides: true,
      findings,
    }
    const report: Report = {
      format: 1,
      url: nasty,
      verdict: 'broken',
      requests: 1,
      notes: [],
      collections: [{ url: nasty, requests: 1, notes: [nasty] }],
      rules: [
        { ...rule, id: 'C1', status: 'fail' },
        { ...rule, id: 'D1', status: 'warn' },
        { ...rule, id: 'D2', status: 'skip' },
        { ...rule, id: 'D3', status: 'skip', judged: false },
      ],
      summary: { pass: 0, fail: 1, warn: 1, skip: 2 },
    }
    const [suite] = parseXml(reportJunit(report, { durationMs: 1 })).children
    assert.equal(suite?.attributes['name'], `<&>"']]>\\u0000\\u001b\ufffd\ufffd\\ud800\\n\\t\\u2028😀`)
    assert.deepEqual(
      suite?.children.map(({ name, children }) => children[0]?.name ?? name),
      ['failure', 'system-out', 'skipped', 'error', 'system-out'],
    )
  })
})
