/** Reads what an entry point of the package exports out of the declarations that the compiler writes. */

import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface Declaration {
  readonly name: string
  /** Without the comment before it. */
  readonly text: string
  readonly comment: string
  /** Whether a program can use it, and not only its types. */
  readonly isValue: boolean
  /** The file that declares it. */
  readonly file: string
}

/** All that a file exports, in its order, also what it hands on from others. */
export function exportsOf(file: string): Declaration[] {
  const { statements } = parse(file)
  return statements.flatMap(({ text, comment }) => {
    const handedOn = /^export (type )?(\*|\{([^}]*)\}) from '(.*)\.ts';$/.exec(text)
    if (handedOn === null) return text.startsWith('export ') ? declared(file, text, comment) : []
    const [, onlyTypes, , names, source = ''] = handedOn
    const there = exportsOf(join(dirname(file), `${source}.d.ts`))
    const chosen =
      names === undefined ? there : (names.match(/[^\s,][^,]*/g) ?? []).flatMap((entry) => picked(there, entry.trim()))
    return onlyTypes === undefined ? chosen : chosen.map(asType)
  })
}

/** What a file says about itself, in its first line. */
export function fileComment(file: string): string {
  return parse(file).comment
}

function picked(there: readonly Declaration[], entry: string): Declaration[] {
  const name = entry.replace(/^type /, '')
  const found = there.filter((each) => each.name === name)
  if (found.length === 0) throw new Error(`There is no declaration of ${name}.`)
  return entry === name ? found : found.map(asType)
}

/** Who gets only the type of a class cannot construct one. */
function asType(declaration: Declaration): Declaration {
  return { ...declaration, isValue: false, text: declaration.text.replace(/^ {4}constructor\(.*\n/gm, '') }
}

function declared(file: string, text: string, comment: string): Declaration[] {
  const [, kind = '', name = ''] = /^export (?:declare )?(interface|type|class|function|const) (\w+)/.exec(text) ?? []
  if (name === '') return []
  const isValue = kind === 'class' || kind === 'function' || kind === 'const'
  // A file is named after the one thing in it, so what it says about itself is said of that.
  const own = comment === '' && fileName(name) === basename(file, '.d.ts') ? fileComment(file) : comment
  return [{ name, text: readable(text, kind), comment: own, isValue, file }]
}

function fileName(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()
}

const LONGEST_CONSTANT = 20

function readable(text: string, kind: string): string {
  const shown = text
    .replace(/^export (declare )?/, '')
    .replace(/^ {4}#private;\n/gm, '')
    .replace(/;$/gm, '')
    .replace(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
  const isLong = kind === 'const' && shown.split('\n').length > LONGEST_CONSTANT
  return isLong ? shown.replace(/\{[\s\S]*\}/, '{ … }') : shown
}

interface Statement {
  readonly comment: string
  readonly text: string
}

/** The compiler writes one declaration after the other; what belongs to one is indented, but for its last brace. */
function parse(file: string): { comment: string; statements: Statement[] } {
  const pieces = readFileSync(file, 'utf8').match(/^(?:\/\*\*[\s\S]*?\*\/|[^\s}/].*(?:\n[ }].*)*)$/gm) ?? []
  const [first = '', ...others] = pieces
  const statements = others.flatMap((text, index) => {
    const before = others[index - 1] ?? ''
    return text.startsWith('/**') ? [] : [{ text, comment: before.startsWith('/**') ? commentText(before) : '' }]
  })
  return { comment: commentText(first), statements }
}

function commentText(comment: string): string {
  return comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}
