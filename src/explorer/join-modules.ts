/** Joins a module and all that it imports into one, in which every name that a module declares has become another. */

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tokensOf } from './javascript-tokens.ts'
import { type Borrowed, type ModuleParts, partsOf } from './module-parts.ts'
import { declaredNames, freshNames, renamed, withShortPrivateNames } from './rename.ts'
import { squeezed } from './squeeze.ts'
import { toJavaScript } from './to-javascript.ts'

interface Module extends ModuleParts {
  readonly path: string
  readonly declared: readonly string[]
}

/** Only names are imported and exported, by relative paths; anything else is an Error that names the file. */
export function joinModules(entry: string): string {
  const modules = inOrder(entry)
  const words = modules.flatMap(({ body }) => body.filter(({ kind }) => kind === 'word'))
  const fresh = freshNames(new Set(words.map(({ text }) => text)))
  /** By the path of a module: what it gives, by the names that it has in the result. */
  const given = new Map<string, ReadonlyMap<string, string>>()
  const bodies = modules.map((module) => {
    const names = new Map(module.declared.map((name) => [name, fresh.next().value]))
    for (const borrowed of module.imports) names.set(borrowed.as, nameOf(borrowed, module, given))
    const exported = [...module.exports].map(([as, name]) => [as, names.get(name) ?? name] as const)
    const handedOn = module.reexports.map((borrowed) => [borrowed.as, nameOf(borrowed, module, given)] as const)
    given.set(module.path, new Map([...exported, ...handedOn]))
    const [first, ...rest] = withShortPrivateNames(renamed(module.body, names))
    return first === undefined ? [] : [{ ...first, isOnNewLine: true }, ...rest]
  })
  return `${squeezed(bodies.flat())}\n`
}

/** Each module behind those that it imports. */
function inOrder(entry: string): Module[] {
  const found = new Map<string, Module>()
  const add = (path: string, importers: readonly string[]): void => {
    if (found.has(path)) return
    if (importers.includes(path)) throw new Error(`Modules import each other: ${[...importers, path].join(', ')}`)
    const module = readModule(path)
    for (const source of module.sources) add(join(dirname(path), source), [...importers, path])
    found.set(path, module)
  }
  add(entry, [])
  return [...found.values()]
}

function nameOf(
  { name, from }: Borrowed,
  { path }: Module,
  given: ReadonlyMap<string, ReadonlyMap<string, string>>,
): string {
  const found = given.get(join(dirname(path), from))?.get(name)
  if (found === undefined) throw new Error(`${path} imports ${name} from ${from}, which does not export it.`)
  return found
}

function readModule(path: string): Module {
  const source = readFileSync(path, 'utf8')
  try {
    const parts = partsOf(tokensOf(path.endsWith('.ts') ? toJavaScript(source) : source))
    return { path, declared: declaredNames(parts.body), ...parts }
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}
