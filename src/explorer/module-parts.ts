/** What a module takes from others and gives to them, and the code between. Knows the forms that this project uses. */

import type { Token } from './javascript-tokens.ts'

export interface Borrowed {
  /** What it is called in the module that gives it. */
  readonly name: string
  readonly as: string
  /** The path of that module, as it is written. */
  readonly from: string
}

export interface ModuleParts {
  readonly imports: readonly Borrowed[]
  /** The names of its own that it gives, by the names that others use. */
  readonly exports: ReadonlyMap<string, string>
  /** What it hands on without using it. */
  readonly reexports: readonly Borrowed[]
  /** All modules that it names, in their order. */
  readonly sources: readonly string[]
  readonly body: readonly Token[]
}

const DECLARATIONS = /^(?:function|class|const)$/

/** Throws an Error for a form that it does not know. */
export function partsOf(tokens: readonly Token[]): ModuleParts {
  const [imports, reexports, body, sources]: [Borrowed[], Borrowed[], Token[], string[]] = [[], [], [], []]
  const exports = new Map<string, string>()
  let at = 0
  const text = (ahead = 0): string => tokens[at + ahead]?.text ?? ''

  while (at < tokens.length) {
    const isStatement = text(-1) !== '.' && text(1) !== ':'
    if (isStatement && text() === 'import') takeImport()
    else if (isStatement && text() === 'export') takeExport()
    else keep()
  }
  return { imports, exports, reexports, sources, body }

  function keep(changes: Partial<Token> = {}): void {
    const token = tokens[at++]
    if (token !== undefined) body.push({ ...token, ...changes })
  }

  function takeImport(): void {
    at++
    const names = takeNames()
    const from = takeSource()
    for (const [name, as] of names) imports.push({ name, as, from })
  }

  function takeExport(): void {
    at++
    if (text() === '{') takeExportedNames()
    else takeDeclaration()
  }

  /** The declaration itself stays in the body. */
  function takeDeclaration(): void {
    const declaration = text() === 'async' ? 1 : 0
    const nameAt = declaration + (text(declaration + 1) === '*' ? 2 : 1)
    if (!DECLARATIONS.test(text(declaration)) || tokens[at + nameAt]?.kind !== 'word') throw unknownForm()
    exports.set(text(nameAt), text(nameAt))
    keep({ isOnNewLine: true })
  }

  function takeExportedNames(): void {
    const names = takeNames()
    if (text() !== 'from') for (const [name, as] of names) exports.set(as, name)
    else {
      const from = takeSource()
      for (const [name, as] of names) reexports.push({ name, as, from })
    }
  }

  /** `{ a, b as c }`: each with the name behind its `as`, or its own. */
  function takeNames(): [string, string][] {
    if (text() !== '{') throw unknownForm()
    const end = tokens.findIndex((token, index) => index > at && token.text === '}')
    const list = tokens.slice(at + 1, end).map((token) => token.text)
    at = end + 1
    const names = list
      .join(' ')
      .split(',')
      .map((name) => name.trim().split(' as '))
    return names.flatMap(([name = '', as = name]) => (name === '' ? [] : [[name, as] as [string, string]]))
  }

  function takeSource(): string {
    const [from, source] = [text(), text(1)]
    if (from !== 'from' || !/^'\.\.?\//.test(source)) throw unknownForm()
    at += 2
    if (text() === ';') at++
    sources.push(source.slice(1, -1))
    return source.slice(1, -1)
  }

  function unknownForm(): Error {
    const found = tokens.slice(Math.max(0, at - 2), at + 6).map((token) => token.text)
    return new Error(`Cannot join modules with this form of import or export: ${found.join(' ')}`)
  }
}
