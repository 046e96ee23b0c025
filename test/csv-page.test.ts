import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'
import { fencesOf } from './markdown.ts'
import { runShellPage } from './shell-page.ts'

const ROOT = join(import.meta.dirname, '..')

it('the page about CSV from Excel shows commands that work on its file, and what they print', async (t) => {
  const markdown = readFileSync(join(ROOT, 'docs/how-to/csv.md'), 'utf8')
  const [file] = fencesOf(markdown).filter(({ language }) => language === 'csv')
  assert.ok(file)
  const directory = workDirectory(t)
  writeFileSync(join(directory, 'prices.csv'), `\ufeff${file.text.replaceAll('\n', '\r\n')}`)
  const variables = { PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}` }
  await runShellPage(t, { markdown, directory, variables })
})
