import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, it } from 'node:test'
import { inlineCodeOf, tablesOf } from './markdown.ts'

const ROOT = join(import.meta.dirname, '..')

/**
 * What each room of src/ may import, as ARCHITECTURE.md says it: rooms by path, packages by name. A folder without a row
 * belongs to the room it stands in, and the folders of one room may import one another.
 */
const MAY_IMPORT = new Map(
  tablesOf(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))
    .flat()
    .map((row) => row.map(inlineCodeOf))
    .map(([[room = ''] = [], rooms = [], packages = []]) => [room, { rooms, packages }]),
)

/** The room that a folder belongs to: the longest path in the table that it stands in. */
function roomOf(folder: string): string {
  const rooms = [...MAY_IMPORT.keys()].filter((room) => folder === room || folder.startsWith(`${room}/`))
  return rooms.sort((a, b) => b.length - a.length)[0] ?? ''
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
  const room = roomOf(from)
  const rule = MAY_IMPORT.get(room)
  if (rule === undefined) return false
  if (!to.startsWith('.'))
    return rule.packages.some(
      (name) => name === to || to.startsWith(`${name}/`) || (name === 'node:*' && to.startsWith('node:')),
    )
  const target = roomOf(relative('.', dirname(join(dirname(file), to))) || '.')
  return target === room || rule.rooms.includes(target) || (isTypeOnly && rule.rooms.includes(`${target} (types)`))
}

describe('the architecture', () => {
  const files = globSync('**/*.ts', { cwd: join(ROOT, 'src') })

  it('keeps to the import table', () => {
    const broken = files.flatMap(importsOf).filter((each) => !isAllowed(each))
    const found = broken.map(({ file, to }) => `${file} imports ${to}`)
    assert.deepEqual(found, [])
  })

  it('has no row in the table without a folder', () => {
    const folders = new Set(files.map((file) => dirname(file)))
    assert.ok(MAY_IMPORT.size > 10)
    for (const room of MAY_IMPORT.keys()) assert.ok(folders.has(room), room)
  })

  it('has no circles of imports, types included', () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter(({ to }) => to.startsWith('.'))
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
    const names = [...new Set(taken)].sort().join(' ')
    assert.equal(names, 'PAGE_SIZE UNPAGINATED_LIMIT hideSecret makeVisible shorten')
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
    const statements = ['read/read.ts', 'rows/head.ts'].map((file) =>
      readFileSync(join(ROOT, 'src/store/sqlite', file), 'utf8'),
    )
    for (const source of statements) assert.doesNotMatch(source, /\bOFFSET\b|\bcount\(\*\)/)
  })
})
