import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { workDirectory } from './cli/run-cli.ts'
import { fencesOf } from './markdown.ts'
import { runShellPage } from './shell-page.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = readFileSync(join(ROOT, 'docs/how-to/import-files.md'), 'utf8')

it('the page about importing files shows commands that work, in their order, and what they print', async (t) => {
  const directory = workDirectory(t)
  const json = fencesOf(PAGE).find(({ language }) => language === 'json')
  writeFileSync(join(directory, 'venues.json'), json?.text ?? '')
  writeFileSync(join(directory, 'towns.csv'), Buffer.from('id;name\n1;Orléans\n2;Nîmes\n', 'latin1'))
  const variables = { PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}` }
  await runShellPage(t, { markdown: PAGE, directory, variables })
})
