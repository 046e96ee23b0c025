import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, it } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

/** What each folder of src/ may import: folders of src/ by path, packages by name. ARCHITECTURE.md shows the same table. */
const MAY_IMPORT: Readonly<Record<string, { folders: readonly string[]; packages: readonly string[] }>> = {
  contract: { folders: [], packages: [] },
  store: { folders: ['contract'], packages: ['node:crypto', 'node:os', 'node:worker_threads', 'node:zlib'] },
  'store/sqlite': { folders: ['store', 'contract'], packages: ['node:*'] },
  'store/postgres': {
    folders: ['store', 'contract'],
    packages: ['node:*', 'pg', 'pg-connection-string', 'pgpass'],
  },
  input: { folders: ['contract'], packages: ['node:*', 'csv-parse'] },
  service: {
    folders: ['contract', 'explorer', 'input', 'service/openapi', 'store (types)'],
    packages: ['node:*', 'lru-cache'],
  },
  'service/node': { folders: ['contract', 'service'], packages: ['node:*'] },
  'service/openapi': { folders: ['contract', 'service', 'store (types)'], packages: [] },
  explorer: { folders: ['contract', 'client', 'explorer/browser'], packages: ['node:*'] },
  'explorer/browser': { folders: ['client', 'contract'], packages: [] },
  client: { folders: ['contract'], packages: [] },
  check: {
    folders: ['contract', 'check/rules'],
    packages: ['node:crypto', 'node:http', 'node:https', 'node:net', 'node:stream'],
  },
  'check/rules': { folders: ['contract', 'check'], packages: [] },
  cli: {
    folders: [
      'contract',
      'store',
      'store/sqlite',
      'store/postgres',
      'input',
      'service',
      'client',
      'check',
      'cli/check',
      'cli/copy',
      'cli/pull',
      'cli/push',
      'cli/serve',
      'cli/token',
    ],
    packages: ['node:*', 'commander', 'cli-progress'],
  },
  'cli/check': { folders: ['cli', 'check', 'contract'], packages: ['node:*'] },
  'cli/copy': { folders: ['cli', 'store'], packages: ['node:*'] },
  'cli/pull': { folders: ['cli', 'client', 'contract', 'input'], packages: ['node:*'] },
  'cli/push': { folders: ['cli', 'client', 'contract', 'input'], packages: ['node:*'] },
  'cli/serve': { folders: ['cli', 'contract', 'input', 'service', 'service/node', 'store'], packages: ['node:*'] },
  'cli/token': { folders: ['cli', 'contract', 'store'], packages: ['node:crypto'] },
  '.': { folders: ['service', 'service/node', 'store (types)', 'contract (types)'], packages: [] },
}

interface Import {
  readonly file: string
  readonly from: string
  readonly to: string
  readonly isTypeOnly: boolean
}

function importsOf(file: string): Import[] {
  const source = readFileSync(join(ROOT, 'src', file), 'utf8')
  const statements = source.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?\bfrom\s+'([^']+)'|^import\s+()'([^']+)'/gm)
  const dynamic = source.matchAll(/\bimport\(()'([^']+)'\)/g)
  return [...statements, ...dynamic].map(([, type, to, , bare]) => ({
    file,
    from: dirname(file),
    to: to ?? bare ?? '',
    isTypeOnly: type !== undefined && type !== '',
  }))
}

function isAllowed({ file, from, to, isTypeOnly }: Import): boolean {
  const rule = MAY_IMPORT[from]
  if (rule === undefined) return false
  if (!to.startsWith('.'))
    return rule.packages.some(
      (name) => name === to || to.startsWith(`${name}/`) || (name === 'node:*' && to.startsWith('node:')),
    )
  const folder = relative('.', dirname(join(dirname(file), to))) || '.'
  return folder === from || rule.folders.includes(folder) || (isTypeOnly && rule.folders.includes(`${folder} (types)`))
}

describe('the architecture', () => {
  const files = globSync('**/*.ts', { cwd: join(ROOT, 'src') })

  it('holds the import table', () => {
    const broken = files.flatMap(importsOf).filter((each) => !isAllowed(each))
    assert.deepEqual(
      broken.map(({ file, to }) => `${file} imports ${to}`),
      [],
    )
  })

  it('has no folder without a row in the table', () => {
    assert.deepEqual([...new Set(files.map((file) => dirname(file)))].sort(), Object.keys(MAY_IMPORT).sort())
  })

  it('has no import cycles', () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter(({ to, isTypeOnly }) => to.startsWith('.') && !isTypeOnly)
          .map(({ to }) => join(dirname(file), to)),
      ]),
    )
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      assert.ok(!path.includes(file), `cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
      if (done.has(file)) return
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of files) visit(file, [])
  })

  it('names the things it does not want nowhere in file names', () => {
    const vague = files.filter((file) => /\b(utils?|helpers?|types|common|manager|impl)\b/.test(file))
    assert.deepEqual(vague, [])
  })

  it('lets the checker judge for itself: of the contract it takes constants, and ways to show a text', () => {
    const taken = files
      .filter((file) => file.startsWith('check/'))
      .flatMap((file) => [
        ...readFileSync(join(ROOT, 'src', file), 'utf8').matchAll(/import \{([^}]*)\} from '[./]*contract\//g),
      ])
      .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
    assert.deepEqual([...new Set(taken)].sort(), [
      'PAGE_SIZE',
      'UNPAGINATED_LIMIT',
      'hideSecret',
      'makeVisible',
      'shorten',
    ])
  })

  it('does page arithmetic in the contract alone, and once more in the checker that judges it', () => {
    const outside = files.filter((file) => !/^(contract|check)\//.test(file))
    const offenders = outside.filter((file) =>
      /\?page=|Math\.ceil\([^)]*(PAGE_SIZE|500)/.test(readFileSync(join(ROOT, 'src', file), 'utf8')),
    )
    assert.deepEqual(offenders, [])
  })

  it('begins every file with a sentence that says what it is for', () => {
    const silent = files.filter((file) => !/^(#!.*\n)?\/\*\*/.test(readFileSync(join(ROOT, 'src', file), 'utf8')))
    assert.deepEqual(silent, [])
  })

  it('lets OFFSET and COUNT(*) nowhere near a page', () => {
    const statements = ['read.ts', 'head.ts'].map((file) => readFileSync(join(ROOT, 'src/store/sqlite', file), 'utf8'))
    for (const source of statements) assert.doesNotMatch(source, /\bOFFSET\b|\bcount\(\*\)/)
  })
})
