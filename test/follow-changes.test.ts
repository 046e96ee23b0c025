import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'
import { runShellPage } from './shell-page.ts'
import { freePort } from './store/free-port.ts'

const ROOT = join(import.meta.dirname, '..')

describe('the page about following changes', () => {
  it('shows commands that work, in their order, and what they print', async (t) => {
    const port = String(await freePort())
    await runShellPage(t, {
      markdown: readFileSync(join(ROOT, 'docs/how-to/follow-changes.md'), 'utf8'),
      directory: workDirectory(t),
      variables: { PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}`, REAMS_PORT: port },
      adapt: (text) => text.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`),
    })
  })
})
