/** The graph of which file mentions which, and the tests that a changed file can affect. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
/** Quoted text that could be a path: a module, a thread, a script, a page of the documentation. */
const QUOTED = /['"`]([\w@./-]{3,})['"`]/g

/** Built files, which may not exist, and the sources to look at instead. */
const BUILT = new Map([
  ['src/explorer/built/explorer.js', 'src/explorer/browser/main.ts'],
  ['src/explorer/built/explorer.css', 'src/explorer/browser/explorer.css'],
])

/** The files of this project that each TypeScript file names, by their paths in the project. */
export type Graph = ReadonlyMap<string, readonly string[]>

export function readGraph(): Graph {
  const files = globSync('{src,test,scripts,bench,examples}/**/*.ts', { cwd: ROOT })
  return new Map(files.map((file) => [file, filesNamedIn(file)]))
}

function filesNamedIn(file: string): string[] {
  const texts = [...readFileSync(join(ROOT, file), 'utf8').matchAll(QUOTED)].map(([, text = '']) => text)
  const paths = new Set(texts.flatMap((text) => placesOf(text, file)).map((path) => BUILT.get(path) ?? path))
  paths.delete(file)
  return [...paths].filter((path) => /\.\w+$/.test(path) && existsSync(join(ROOT, path)))
}

/** Modules name others relative to themselves, threads relative to src/, pages to docs/, and anything else to the project. */
function placesOf(text: string, file: string): string[] {
  if (text.startsWith('.')) return [normalize(join(dirname(file), text))]
  return [text, join('src', text), join('src', `${text}.ts`), join('docs', text)]
}

/** All files that a file needs, directly or through others. */
export function reach(file: string, graph: Graph): Set<string> {
  const reached = new Set([file])
  for (const each of reached) for (const named of graph.get(each) ?? []) reached.add(named)
  return reached
}

/** The test files that reach one of the changed files. */
export function testsAffectedBy(changed: readonly string[], graph: Graph): string[] {
  const tests = [...graph.keys()].filter((file) => /^test\/.*\.test\.ts$/.test(file))
  return tests.filter((test) => {
    const reached = reach(test, graph)
    return changed.some((file) => reached.has(file))
  })
}
