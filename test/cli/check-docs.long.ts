import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { JQ, lackOf } from '../faults/needs.ts'
import { fencesOf } from '../markdown.ts'
import { runShellPage } from '../shell-page.ts'
import { freePort } from '../store/free-port.ts'
import { eventLines } from './items.ts'
import { workDirectory } from './run-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const FENCES = fencesOf(readFileSync(join(ROOT, 'docs/how-to/check-a-server.md'), 'utf8'))
const textOf = (language: string): string => FENCES.find((fence) => fence.language === language)?.text ?? ''

it('the page about checking has a pipeline that starts a server, waits for it, and writes a report', async (t) => {
  const lack = await lackOf([JQ])
  if (lack !== undefined) return t.skip(lack)
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
})
