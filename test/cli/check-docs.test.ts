import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fencesOf } from '../markdown.ts'
import { runShellPage } from '../shell-page.ts'
import { freePort } from '../store/free-port.ts'
import { eventLines } from './items.ts'
import { workDirectory } from './run-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const FENCES = fencesOf(readFileSync(join(ROOT, 'docs/how-to/check-a-server.md'), 'utf8'))
const textOf = (language: string): string => FENCES.find((fence) => fence.language === language)?.text ?? ''

describe('the page about checking', () => {
  it('has a pipeline that starts a server, waits for it, and writes a report', async (t) => {
    if (spawnSync('jq', ['--version']).status !== 0) return t.skip('there is no jq on this machine')
    const directory = workDirectory(t)
    const port = String(await freePort())
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1234))
    const start = `exec reams serve events.ndjson --port ${port} > log.txt`
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ scripts: { start } }))
    writeFileSync(join(directory, 'junit.jq'), textOf('jq'))
    const commands = [...textOf('yaml').matchAll(/^ {4}- (.*)$/gm)].map(([, command]) => command)
    assert.equal(commands.length, 4)
    await runShellPage(t, {
      markdown: `\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`,
      directory,
      variables: { PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}`, HOME: directory },
      adapt: (text) => text.replaceAll(':3000', `:${port}`),
    })
    const report = readFileSync(join(directory, 'report.xml'), 'utf8')
    assert.match(report, /^<testsuite name="http:[^>]*>\n<testcase name="C1 [\s\S]*<skipped\/>[\s\S]*<\/testsuite>\n$/)
    assert.doesNotMatch(report, /<failure|<error/)

    const rule = { id: 'C1', title: 'a <b> & "c"', status: 'skip', judged: false, decides: true, detail: '' }
    const rules = [rule, { ...rule, status: 'fail', judged: true, detail: 'a "b" <c>' }, { ...rule, decides: false }]
    const input = JSON.stringify({ url: 'http://x', rules })
    const { stdout } = spawnSync('jq', ['-r', textOf('jq')], { input, encoding: 'utf8' })
    const found = [...stdout.matchAll(/<testcase name="([^"]*)">\n(.*)/g)].map(([, ...parts]) => parts)
    const name = 'C1 a &lt;b&gt; &amp; &quot;c&quot;'
    assert.deepEqual(found, [
      [name, '<error message=""/>'],
      [name, '<failure message="a &quot;b&quot; &lt;c&gt;"/>'],
      [name, '<skipped/>'],
    ])
  })
})
