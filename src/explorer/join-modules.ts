/** Joins a module and all that it imports into one, in which each has a scope of its own. */

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tokensOf } from './javascript-tokens.ts'
import { type Borrowed, type ModuleParts, partsOf } from './module-parts.ts'
import { squeezed } from './squeeze.ts'
import { stripTypes } from './strip-types.ts'

/** A module by what stands for it, and what it gives. */
interface Joined {
  readonly variable: string
  readonly names: ReadonlySet<string>
}

/** Only names are imported and exported, by relative paths; anything else is an Error that names the file. */
export function joinModules(entry: string): string {
  const joined = new Map<string, Joined>()
  const texts: string[] = []
  add(entry, [])
  return texts.join('')

  function add(path: string, importers: readonly string[]): Joined {
    if (importers.includes(path)) throw new Error(`Modules import each other: ${[...importers, path].join(', ')}`)
    const parts = readParts(path)
    for (const source of parts.sources) moduleAt(join(dirname(path), source), [...importers, path])
    const names = new Set([...parts.exports.keys(), ...parts.reexports.map(({ as }) => as)])
    const own = { variable: `$${joined.size.toString(36)}`, names }
    joined.set(path, own)
    texts.push(scopeOf(own, parts, (borrowed) => variableOf(borrowed, path)))
    return own
  }

  function moduleAt(path: string, importers: readonly string[]): Joined {
    return joined.get(path) ?? add(path, importers)
  }

  function variableOf({ name, from }: Borrowed, path: string): string {
    const source = moduleAt(join(dirname(path), from), [])
    if (!source.names.has(name)) throw new Error(`${path} imports ${name} from ${from}, which does not export it.`)
    return source.variable
  }
}

function readParts(path: string): ModuleParts {
  const source = readFileSync(path, 'utf8')
  try {
    return partsOf(tokensOf(path.endsWith('.ts') ? stripTypes(source) : source))
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** `const $1=(()=>{…})()`. */
function scopeOf({ variable, names }: Joined, parts: ModuleParts, variableOf: (borrowed: Borrowed) => string): string {
  const taken = Map.groupBy(parts.imports, variableOf)
  const imports = [...taken].map(([from, names]) => `const{${names.map(pairOf)}}=${from}\n`)
  const given = [
    ...[...parts.exports].map(([as, name]) => (as === name ? as : `${as}:${name}`)),
    ...parts.reexports.map((borrowed) => `${borrowed.as}:${variableOf(borrowed)}.${borrowed.name}`),
  ]
  const [before, after] = names.size === 0 ? ['', ''] : [`const ${variable}=`, `\nreturn{${given}}`]
  return `${before}(()=>{${imports.join('')}${squeezed(parts.body)}${after}})();\n`
}

function pairOf({ name, as }: Borrowed): string {
  return name === as ? name : `${name}:${as}`
}
