import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { checkConformance, type Report, RULES } from '../../src/check/index.ts'
import { events, startHttp } from './check-server.ts'
import { runCli, workDirectory } from './run-cli.ts'

const broken = () => events({ beyond: (_request, response) => response.writeHead(404).end() })

/** The paths of all fields: `rules[].id`. */
function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => [`${path}[]`, ...pathsOf(each, `${path}[]`)])
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, field]) => pathsOf(field, path === '' ? name : `${path}.${name}`))
}

describe('a report as JSON', () => {
  it('is the report of the library', async (t) => {
    const url = await startHttp(t, broken())
    const { status, stdout } = await runCli(['check', `${url}/events`, '--format', 'json'], { in: workDirectory(t) })
    assert.equal(status, 1)
    const report: Report = JSON.parse(stdout)
    assert.equal(stdout, `${JSON.stringify(report, null, 2)}\n`)
    const { collections, ...others } = await checkConformance(`${url}/events`)
    assert.deepEqual(report, { ...others, collections: report.collections })
    assert.equal(report.collections[0]?.item_count, collections[0]?.item_count)
    const c7 = report.rules.find(({ id }) => id === 'C7')
    assert.equal(c7?.status, 'fail')
    assert.equal(c7?.request, `curl -si '${url}/events?page=4'`)
    assert.equal(c7?.detail, 'expected as page 3: 200 OK; came 404 Not Found')
  })

  it('has the fields that the reference names, and no others', async (t) => {
    const page = readFileSync(new URL('../../docs/reference/rules.md', import.meta.url), 'utf8')
    const [, section = ''] = page.split('## The report as JSON\n')
    const documented = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = '']) => path)
    assert.ok(documented.length > 20)
    // One that is broken has findings, one out of reach has notes, and so has an entry point to elsewhere.
    const url = await startHttp(t, broken())
    const directory = workDirectory(t)
    const { stdout } = await runCli(['check', `${url}/events`, '--format', 'json'], { in: directory })
    const unreachable = await runCli(['check', 'http://127.0.0.1:1/x', '--format', 'json'], { in: directory })
    const entry = await startHttp(t, (_request, response) =>
      response.end('{"_links":{"collections":[{"href":"https://elsewhere.invalid/events"}]}}'),
    )
    const foreign = await runCli(['check', entry, '--format', 'json'], { in: directory })
    const paths = [stdout, unreachable.stdout, foreign.stdout].flatMap((text) => pathsOf(JSON.parse(text)))
    assert.deepEqual([...new Set(paths)].toSorted(), documented.toSorted())
  })

  it('is printed all the same where nothing could be judged', async (t) => {
    const words = ['check', 'http://127.0.0.1:1/events', '--format', 'json']
    const { status, stdout } = await runCli(words, { in: workDirectory(t) })
    assert.equal(status, 3)
    const { verdict, summary, rules } = JSON.parse(stdout)
    assert.equal(verdict, 'unjudged')
    assert.deepEqual(summary, { pass: 0, fail: 0, warn: 0, skip: RULES.length })
    assert.ok(rules.every(({ judged }: { judged: boolean }) => !judged))
  })
})
