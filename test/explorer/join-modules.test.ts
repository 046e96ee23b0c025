import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { transformSync } from 'esbuild'
import type * as Client from '../../src/client/index.ts'
import { tokensOf } from '../../src/explorer/javascript-tokens.ts'
import { joinModules } from '../../src/explorer/join-modules.ts'
import { partsOf } from '../../src/explorer/module-parts.ts'
import { declaredNames, freshNames, renamed, withShortPrivateNames } from '../../src/explorer/rename.ts'
import { squeezed } from '../../src/explorer/squeeze.ts'
import { toJavaScript } from '../../src/explorer/to-javascript.ts'
import { CorrectServer } from '../check/correct-server.ts'
import { BASE, inProcess } from '../client/hostile-server.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Every name that esbuild gives depends on how often each letter occurs; beside this, on nothing that renaming changes. */
const BALLAST = `;ballast="${[...'etnriaoscludfpmhg_ybvwkCEISTRANxOMDPLjFUBqz$VHWGYXKQJZ0123456789']
  .map((letter, place) => letter.repeat(300 * (70 - place)))
  .join('')}"`

describe('joined modules', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reams-join-'))
  after(() => rmSync(directory, { recursive: true, force: true }))

  /** The result of joining these files, the first of which imports the others. */
  function joinFiles(files: Readonly<Record<string, string>>): string {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
    return joinModules(join(directory, Object.keys(files)[0] ?? ''))
  }

  async function run(script: string): Promise<unknown> {
    const path = join(directory, `run-${Math.random()}.mjs`)
    writeFileSync(path, script)
    await import(pathToFileURL(path).href)
    return Reflect.get(globalThis, 'result')
  }

  it('lets the client work as it does alone', async () => {
    const index = JSON.stringify(join(ROOT, 'src/client/index.ts')).slice(1, -1)
    const relative = `.${'/..'.repeat(directory.split('/').length - 1)}${index}`
    const script = joinFiles({
      'client.ts': `import { createClient, HttpError } from '${relative}'\nObject.assign(globalThis, { result: { createClient, HttpError } })\n`,
    })
    const { createClient, HttpError } = (await run(script)) as typeof Client
    const { fetch } = inProcess(new CorrectServer({ items: 1234 }))
    const events = createClient(BASE, { fetch }).collection<{ id: number }>('events')
    const ids: number[] = []
    for await (const { id } of events.items()) ids.push(id)
    assert.deepEqual(
      ids,
      Array.from({ length: 1234 }, (_, index) => index + 1),
    )
    const page = await events.page(99)
    assert.equal(page.number, 3)
    assert.equal(Buffer.from(page.ndjson()).toString().split('\n').length, 235)
    const nothing = createClient(BASE, { fetch }).collection('nothing')
    await assert.rejects(nothing.count(), (error: InstanceType<typeof HttpError>) => {
      assert.ok(error instanceof HttpError)
      assert.equal(error.name, 'HttpError')
      return error.status === 404
    })
    assert.throws(() => createClient('nowhere'), /^TypeError: The URL "nowhere" is not absolute/)
  })

  it('mean what they meant: every module of the project, squeezed, is the same program to esbuild', () => {
    const files = globSync('{src,test}/**/*.ts', { cwd: ROOT })
    for (const file of files) {
      const source = toJavaScript(readFileSync(join(ROOT, file), 'utf8'))
      const text = (code: string) => transformSync(code, { minifyWhitespace: true, legalComments: 'none' }).code
      assert.equal(text(squeezed(tokensOf(source))), text(source), file)
    }
    assert.ok(files.length > 400)
  })

  it('mean what they meant: with other names they are the same program to a minifier', () => {
    const files = globSync('src/{client,contract,check,explorer/browser}/**/*.ts', { cwd: ROOT })
    for (const file of files) {
      const source = readFileSync(join(ROOT, file), 'utf8')
      // Those can have no part in a script for a browser.
      if (/from 'node:/.test(source) || file.endsWith('contract/index.ts')) continue
      const { imports, exports, body } = partsOf(tokensOf(toJavaScript(source)))
      const borrowed = imports.map(({ as }) => as)
      const fresh = freshNames(new Set(body.map(({ text }) => text)))
      const names = new Map([...borrowed, ...declaredNames(body)].map((name) => [name, fresh.next().value]))
      const own = (name: string) => names.get(name) ?? name
      const program = (nameOf: (name: string) => string, code: string) => {
        const given = [...exports.values()].map((name, place) => `${nameOf(name)} as e${place}`)
        const before = borrowed.length === 0 ? '' : `var ${borrowed.map(nameOf)};`
        const options = { minifyIdentifiers: true, minifyWhitespace: true, format: 'iife', globalName: 'x' } as const
        return transformSync(`${before}export{${given}};\n${code}${BALLAST}`, options).code
      }
      const short = squeezed(withShortPrivateNames(renamed(body, names)))
      assert.equal(
        program(own, short),
        program((name) => name, squeezed(body)),
        file,
      )
    }
    assert.ok(files.length > 80)
  })

  it('keep strings, templates and regular expressions, whatever they look like', async () => {
    const script = joinFiles({
      'texts.ts': String.raw`
        // a comment
        const quote = 'it\'s // no comment'
        const slashes = /[/*]\/\/ "x" /g
        const half = (4) / 2 / 1
        const inner = { quote, text: 1 } /* gone */
        function text(value: number): string { return ${'`'}a  ${'${'}value > 0 ? ${'`'}<  ${'${'}half${'}'}  >${'`'} : '}'${'}'}  // b${'`'} }
        class Box { #quote = 'private'
          text = 'field'
          get quote(): string { return this.#quote }
          static text(): string { return text(1) } }
        let i = 1
        let j = 2
        const sum = i + +j - -j
        i
        ++j
        Object.assign(globalThis, { result: [quote, slashes.source, half, inner, text(0), new Box().quote, new Box().text, Box.text(), sum, i, j] })
      `,
    })
    assert.doesNotMatch(script, /a comment|gone/)
    assert.deepEqual(await run(script), [
      "it's // no comment",
      '[/*]\\/\\/ "x" ',
      2,
      { quote: "it's // no comment", text: 1 },
      'a  }  // b',
      'private',
      'field',
      'a  <  2  >  // b',
      5,
      1,
      3,
    ])
  })

  it('keep their private names apart, and find what others hand on', async () => {
    const script = joinFiles({
      'main.ts':
        "import { value as one, type Kind } from './one.ts'\nimport { two } from './index.ts'\nconst value: Kind = 'main'\nObject.assign(globalThis, { result: [value, one, two] })\n",
      'one.ts': "export type Kind = string\nconst helper = () => 'one'\nexport const value = helper()\n",
      'two.ts':
        "import { value } from './one.ts'\nconst helper = () => 'two after ' + value\nexport const name = helper()\n",
      'index.ts': "export { name as two } from './two.ts'\n",
    })
    assert.deepEqual(await run(script), ['main', 'one', 'two after one'])
  })

  const refused = {
    'a default export': ['export default 1', /export or import|import or export: .*default/],
    'an import of everything': ["import * as all from './x.ts'", /import or export: .*\*/],
    'an export of everything': ["export * from './x.ts'", /import or export/],
    'a package': ["import { join } from 'node:path'", /import or export: .*node:path/],
    'an import for its effects': ["import './x.ts'", /import or export/],
    'a dynamic import': ["const x = await import('./x.ts')", /import or export/],
    'a name that is not there': ["import { y } from './x.ts'", /imports y from \.\/x\.ts, which does not export it/],
    'two names in one declaration': ['const a = 1, b = 2', /declaration: , b/],
    'a class without a name': ['const A = class extends Error {}', /declaration: class extends/],
    'names taken apart at the top': ['export const used = 1\nconst [a] = [1]', /declaration: const \[/],
  } as const
  for (const [what, [source, message]] of Object.entries(refused))
    it(`refuse ${what}, and name the file`, () => {
      const files = { 'refused.ts': source, 'x.ts': 'export const x = 1\n' }
      assert.throws(
        () => joinFiles(files),
        (error: Error) => message.test(error.message) && /refused\.ts/.test(error.message),
      )
    })
})
