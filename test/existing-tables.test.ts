import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { formatCount } from '../src/contract/message-text.ts'
import { lastPage } from '../src/contract/page.ts'
import { workDirectory } from './cli/run-cli.ts'
import { fencesOf } from './markdown.ts'
import { runShellPage } from './shell-page.ts'
import { freePort } from './store/free-port.ts'
import { newSchema, runSql } from './store/postgres-engine.ts'
import { type PostgresServer, startPostgres } from './store/postgres-server.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = readFileSync(join(ROOT, 'docs/how-to/existing-tables.md'), 'utf8')

const SHOWN = 10_000_000
const ROWS = 12_000

describe('the page about tables that one already has', () => {
  let server: PostgresServer
  const database = newSchema()

  before(async () => {
    server = await startPostgres()
    await runSql(server.url, '', `CREATE DATABASE ${database}`)
  })
  after(async () => {
    await runSql(server.url, '', `DROP DATABASE ${database} WITH (FORCE)`)
    await server.stop()
  })

  it('shows commands that work, in their order, and what they print', async (t) => {
    const url = new URL(server.url)
    const port = await freePort()
    const adapt = (text: string) =>
      text
        .replaceAll('shop\n', `${database}\n`)
        .replaceAll('///shop', `///${database}`)
        .replaceAll('psql -q', `"${process.execPath}" "${join(ROOT, 'test/run-sql.ts')}"`)
        .replaceAll('8080', `${port}`)
        .replaceAll('reams serve --store', `reams serve --port ${port} --store`)
        .replaceAll(formatCount(SHOWN), formatCount(ROWS))
        .replaceAll(formatCount(lastPage(SHOWN)), formatCount(lastPage(ROWS)))
        .replaceAll('page=20000', `page=${lastPage(ROWS)}`)
        .replaceAll(`{"item_count":10000`, `{"item_count":12000`)
        .replaceAll(`${SHOWN}`, `${ROWS}`)
    const [make = ''] = fencesOf(PAGE).flatMap(({ language, text }) => (language === 'sql' ? [text] : []))
    await runSql(Object.assign(new URL(server.url), { pathname: `/${database}` }).href, '', adapt(make))
    // The first command waits until it is stopped.
    const [, first = '', rest = ''] = /^([\s\S]*?\n## Ten)([\s\S]*)$/.exec(PAGE) ?? []
    assert.ok(first.includes('reams serve --from postgres:///shop --table events'))
    const variables = {
      PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}`,
      PGHOST: url.hostname,
      PGPORT: url.port,
      PGUSER: url.username,
      PGPASSWORD: decodeURIComponent(url.password),
    }
    await runShellPage(t, { markdown: `## Ten${rest}`, directory: workDirectory(t), variables, adapt })
  })
})
