import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'
import { runShellPage } from './shell-page.ts'
import { freePort } from './store/free-port.ts'

const ROOT = join(import.meta.dirname, '..')

describe('the tutorial', () => {
  it('works as it stands, in a clone, and prints what it shows', async (t) => {
    const directory = workDirectory(t)
    for (const name of ['bin', 'src', 'package.json', 'node_modules'])
      symlinkSync(join(ROOT, name), join(directory, name))
    const port = String(await freePort())
    await runShellPage(t, {
      markdown: readFileSync(join(ROOT, 'docs/tutorial/first-collection.md'), 'utf8'),
      directory,
      // The port of the page may be taken on the machine that runs the tests.
      variables: { PATH: process.env['PATH'] ?? '', REAMS_PORT: port },
      adapt: (text) => text.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`),
    })
  })
})
