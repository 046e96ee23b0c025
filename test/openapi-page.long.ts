import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { startServer, workDirectory } from './cli/run-cli.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = readFileSync(join(ROOT, 'docs/how-to/openapi.md'), 'utf8')
const ENVIRONMENT = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) }

const run = promisify(execFile)

it('the typed client of the documentation works beside the current TypeScript, as the page says', async (t) => {
  const directory = workDirectory(t)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/typescript/package.json'), 'utf8'))
  const manifest = { private: true, type: 'module', devDependencies: { typescript: version } }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
  const events = Array.from({ length: 1234 }, (_, index) => `{"id":${index}}\n`).join('')
  writeFileSync(join(directory, 'events.ndjson'), events)
  const server = await startServer(t, ['events.ndjson'], { in: directory })
  const [, section = ''] = PAGE.replaceAll('http://127.0.0.1:8080', server.url).split('## A typed client\n')
  const [, script = '', code = ''] = /```sh\n(.*?)```.*?```ts\n(.*?)```/s.exec(section) ?? []
  const options = { cwd: directory, env: ENVIRONMENT }
  await run('sh', ['-ec', script], options)
  writeFileSync(join(directory, 'program.ts'), code)
  const strict = '--noEmit --strict --module nodenext --target esnext --allowImportingTsExtensions program.ts'
  await run(join(directory, 'node_modules/.bin/tsc'), strict.split(' '), options).catch((error) =>
    assert.fail(error.stdout),
  )
  const { stdout } = await run(process.execPath, ['program.ts'], options)
  assert.equal(stdout, `1234 ${server.url}/events?page=2 1000\n`)
})
