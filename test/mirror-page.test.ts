import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'
import { runShellPage } from './shell-page.ts'
import { freePort } from './store/free-port.ts'
import { newSchema, runSql } from './store/postgres-engine.ts'
import { type PostgresServer, startPostgres } from './store/postgres-server.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = readFileSync(join(ROOT, 'docs/how-to/mirror.md'), 'utf8')

describe('the page about mirrors', () => {
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
    const ports = new Map<string, number>()
    for (const shown of ['8080', '8081', '8082']) ports.set(shown, await freePort())
    const adapt = (text: string) =>
      text
        .replaceAll('postgres:///reams', `postgres:///${database}`)
        .replaceAll(/\b808[012]\b/g, (shown) => `${ports.get(shown)}`)
    const variables = {
      PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}`,
      PGHOST: url.hostname,
      PGPORT: url.port,
      PGUSER: url.username,
      PGPASSWORD: decodeURIComponent(url.password),
    }
    await runShellPage(t, { markdown: PAGE, directory: workDirectory(t), variables, adapt })
  })
})
