/** The reference of the package as a library: everything that its entry points export, as its users get it. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Declaration, exportsOf, fileComment } from './declarations.ts'
import { fenced, type Page, table } from './page.ts'

const ROOT = join(import.meta.dirname, '..')

/** Where each is used. */
const GUIDES: Readonly<Record<string, string>> = {
  reams: '[Embed](../how-to/embed.md)',
  'reams/check': '[Check a server](../how-to/check-a-server.md#in-a-test-suite)',
  'reams/client': '[Read a whole collection](../how-to/consume.md)',
  'reams/items': '[Write from code](../how-to/embed.md#write-from-code)',
  'reams/store/postgres': '[PostgreSQL](../how-to/postgres.md#from-code)',
  'reams/store/sqlite': '[Embed](../how-to/embed.md)',
}

interface EntryPoint {
  readonly name: string
  readonly comment: string
  readonly exports: readonly Declaration[]
}

export function apiPage(): Page {
  const entryPoints = readEntryPoints()
  const headings = new Map<string, number>()
  return {
    title: 'API',
    blocks: [
      'What `import` gives, from each entry point of the package: the declarations as TypeScript knows them, with what the code says about them. A type that stands nowhere on this page is for the program itself.',
      table(
        ['entry point', '', 'how to'],
        entryPoints.map(({ name, comment }) => [`[\`${name}\`](#${anchor(name)})`, comment, GUIDES[name] ?? '']),
      ),
      ...entryPoints.flatMap((entry, index) => section(entry, entryPoints.slice(0, index), headings)),
    ],
  }
}

function section(
  { name, comment, exports }: EntryPoint,
  before: readonly EntryPoint[],
  headings: Map<string, number>,
): string[] {
  const isKnown = ({ name: each, file }: Declaration) =>
    before.some((entry) => entry.exports.some((other) => other.name === each && other.file === file))
  const shown = exports.filter((declaration) => !isKnown(declaration))
  const ordered = [...shown.filter(({ isValue }) => isValue), ...shown.filter(({ isValue }) => !isValue)]
  const known = exports.filter(isKnown).map(({ name: each }) => `\`${each}\``)
  return [
    `## ${name}`,
    comment,
    ordered.map((each) => `[\`${each.name}\`](#${uniqueAnchor(each.name, headings)})`).join(' · '),
    ...(known.length === 0 ? [] : [`It also exports ${known.join(', ')}, which stand above.`]),
    ...ordered.flatMap((each) => [
      `### ${each.name}`,
      ...(each.comment === '' ? [] : [each.comment]),
      fenced(each.text, 'ts'),
    ]),
  ]
}

function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll('/', '')
}

/** Two entry points can have a name in common: the second heading is then reached with a number behind it. */
function uniqueAnchor(heading: string, headings: Map<string, number>): string {
  const times = headings.get(anchor(heading)) ?? 0
  headings.set(anchor(heading), times + 1)
  return times === 0 ? anchor(heading) : `${anchor(heading)}-${times}`
}

function readEntryPoints(): EntryPoint[] {
  const directory = mkdtempSync(join(tmpdir(), 'reams-declarations-'))
  try {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const project = join(ROOT, 'scripts/build.tsconfig.json')
    const options = ['-p', project, '--emitDeclarationOnly', '--noCheck', '--outDir', directory]
    execFileSync(process.execPath, [compiler, ...options], { stdio: 'inherit' })
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      exports: Record<string, { types: string }>
    }
    return Object.entries(exports).map(([name, { types }]) => {
      const file = join(directory, types.replace('./lib/', ''))
      return { name: name.replace('.', 'reams'), comment: fileComment(file), exports: exportsOf(file) }
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}
