import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { transformSync } from 'esbuild'
import { checkPackage } from '../scripts/check-package.ts'
import { ASSET_BYTES, makeAssets } from '../src/explorer/create-explorer.ts'
import { startServer, workDirectory } from './cli/run-cli.ts'

const ROOT = join(import.meta.dirname, '..')

/** This Node first: it runs npm, and everything that begins with `#!/usr/bin/env node`. No setting of Reams stands in it. */
const ENVIRONMENT = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('REAMS_'))),
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
}

const run = promisify(execFile)

const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund']

const PROGRAM = `
import { createService } from 'reams'
import { createClient } from 'reams/client'
import { pageLinks } from 'reams/contract'
import { itemRun } from 'reams/items'
import { openSqliteStore } from 'reams/store/sqlite'

const store = await openSqliteStore({ path: 'program.db', create: true })
await store.create('events', { keyField: 'id' })
const texts = Array.from({ length: 501 }, (_, index) => JSON.stringify({ id: index }))
await store.append('events', itemRun(texts, { keyField: 'id' }))
const service = createService({ store, baseUrl: 'https://example.com/api' })
const response = await service.fetch(new Request('https://example.com/api/events?page=2'))
const { item_count, _links, _embedded } = await response.json()
let read = 0
for await (const _ of createClient('https://example.com/api', service).collection('events').items()) read++
const html = await service.fetch(new Request('https://example.com/api/', { headers: { accept: 'text/html, application/xhtml+xml' } }))
const pageThread = new Promise((resolve) => {
  process.once('worker', (thread) => {
    thread.ref()
    thread.once('message', resolve).once('exit', () => resolve('ended'))
  })
})
await Promise.all([1, 2].map((page) => service.fetch(new Request('https://example.com/api/events?page=' + page, { headers: { 'accept-encoding': 'gzip' } }))))
const files = [...(await html.text()).matchAll(/"\\/api(\\/-\\/explorer\\/[^"]+)"/g)].map(([, path]) => path)
const explorer = await Promise.all(files.map(async (path) => (await service.fetch(new Request('https://example.com' + path))).text()))
const firstWord = await pageThread
await store.close()
console.log(JSON.stringify({
  item_count,
  read,
  events: _embedded.events,
  explorer,
  hasPageThread: firstWord !== 'ended',
  areLinksThoseOfTheContract:
    JSON.stringify({ ..._links, snapshot: undefined }) ===
      JSON.stringify(pageLinks('https://example.com/api', 'events', 2, 501)),
}))
`

const TYPED_PROGRAM = `
import { createService, type Head, type Service, type Store } from 'reams'
import { createClient, type Page } from 'reams/client'
import { type PageLinks, pageLinks } from 'reams/contract'
import { type ItemRun, itemRun } from 'reams/items'
import { openSqliteStore } from 'reams/store/sqlite'

const store: Store = await openSqliteStore({ path: 'typed.db' })
const service: Service = createService({ store })
const response: Response = await service.fetch(new Request('http://127.0.0.1:8080/events'))
const run: ItemRun = itemRun(['{}'])
const head: Head = await store.append('events', run)
export const links: PageLinks = pageLinks('http://127.0.0.1:8080', 'events', 1, head.live)
export const status: number = response.status
const page: Page<{ id: number }> = await createClient('http://127.0.0.1:8080', service).collection<{ id: number }>('events').page(1)
export const ids: number[] = page.items.map(({ id }) => id)
// @ts-expect-error: a service needs a store, so the declarations are really read.
createService({})
`

const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** What is printed by a program of this version, and by nothing else. */
const ITS_VERSION = { stdout: `${VERSION}\n`, stderr: '' }

function filesIn(directory: string) {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
}

/** A Node that is older than the one that Reams needs: the machine's, or one from the registry. */
async function oldNode(directory: string): Promise<string> {
  const paths = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules'))
  for (const path of paths.map((each) => join(each, 'node'))) {
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
    if (stdout && Number.parseInt(stdout.slice(1), 10) < 24) return path
  }
  const name = `node-${process.platform}-${process.arch}`
  await run('npm', ['install', '--prefix', directory, ...QUIETLY, `${name}@22`], { cwd: directory, env: ENVIRONMENT })
  return join(directory, 'node_modules', name, 'bin/node')
}

describe('the package', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reams-package-'))
  const home = join(directory, 'home')
  const command = join(home, 'node_modules/.bin/reams')
  const at = (cwd: string) => ({ cwd, env: ENVIRONMENT })
  const tarball = () => join(directory, readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? '')

  before(async () => {
    await run('npm', ['pack', '--pack-destination', directory], at(ROOT))
    mkdirSync(home)
    writeFileSync(join(home, 'package.json'), '{"private":true,"type":"module"}')
    await run('npm', ['install', ...QUIETLY, tarball()], at(home))
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('serves from code, with a store whose writes, and pages of many, go through its threads', async () => {
    writeFileSync(join(home, 'program.js'), PROGRAM)
    const { stdout, stderr } = await run(process.execPath, ['program.js'], at(home))
    assert.equal(stderr, '')
    const { explorer, ...data } = JSON.parse(stdout)
    assert.deepEqual(data, {
      item_count: 501,
      read: 501,
      events: [{ id: 500 }],
      hasPageThread: true,
      areLinksThoseOfTheContract: true,
    })
    const { icon, style, script } = makeAssets()
    const normal = (text: string | Uint8Array) => transformSync(text, { minifyWhitespace: true, format: 'esm' }).code
    assert.deepEqual(explorer.slice(0, 2), [String(icon.plain), String(style.plain)])
    assert.equal(normal(explorer[2]), normal(script.plain))
    assert.ok(Buffer.byteLength(explorer.join('')) < ASSET_BYTES)
  })

  it('brings declarations that a strict compiler takes, without those of Node', async () => {
    writeFileSync(join(home, 'typed.ts'), TYPED_PROGRAM)
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const options = '--noEmit --strict --skipLibCheck false --module nodenext --target esnext --lib esnext,dom'
    const words = [compiler, ...options.split(' '), '--types', '', 'typed.ts']
    await run(process.execPath, words, at(home)).catch((error) => assert.fail(error.stdout))
  })

  it('is installed as the README says, or straight from the clone', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    assert.match(readme, new RegExp(`^npm install .*/reams-${RegExp.escape(VERSION)}\\.tgz$`, 'm'))
    const other = join(directory, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'package.json'), '{"private":true,"type":"module"}')
    await run('npm', ['install', '--prefer-offline', ROOT], at(other))
    const program = "import('reams/client').then(({ createClient }) => console.log(typeof createClient))"
    assert.equal((await run(process.execPath, ['--eval', program], at(other))).stdout, 'function\n')
    assert.deepEqual(await run(join(other, 'node_modules/.bin/reams'), ['--version'], at(other)), ITS_VERSION)
  })

  it('is as package managers, bundlers and TypeScript expect it', async () => {
    assert.deepEqual(await checkPackage(tarball()), [])
  })

  it('is small: no more packages than these, below 25 MB together', () => {
    const lock = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8'))
    const packages = Object.keys(lock.packages).filter((path) => path !== '')
    assert.ok(packages.length <= 56, `${packages.length} packages`)
    const sizes = filesIn(join(home, 'node_modules')).map(
      ({ parentPath, name }) => statSync(join(parentPath, name)).size,
    )
    const bytes = sizes.reduce((sum, size) => sum + size)
    assert.ok(bytes < 25_000_000, `${bytes} bytes`)
  })

  it('says what it needs where Node is too old', async (t) => {
    const failed = await run(await oldNode(workDirectory(t)), [command, '--version'], at(home)).catch((error) => error)
    assert.equal(failed.code, 3)
    assert.match(failed.stderr, /^reams: This is Node\.js \d+\.\d+\.\d+; Reams needs 24 or newer\.\n$/)
  })

  it('runs from the tarball alone, without being installed', async () => {
    const words = ['--yes', '--prefer-offline', `./${basename(tarball())}`, '--version']
    assert.equal((await run('npx', words, at(directory))).stdout, ITS_VERSION.stdout)
  })

  it('has a command of its version', async () => {
    assert.deepEqual(await run(command, ['--version'], at(home)), ITS_VERSION)
  })

  it('is installed for the whole machine as the page about systemd says, with its man page where man looks', async () => {
    const prefix = join(directory, 'machine')
    const page = readFileSync(join(ROOT, 'docs/how-to/systemd.md'), 'utf8')
    const [, shown = ''] = /^npm (install --global .*)$/m.exec(page) ?? []
    assert.equal(shown.split(' ').at(-1), `./${basename(tarball())}`)
    await run('npm', [...shown.replace('/opt/reams', prefix).split(' '), ...QUIETLY], at(directory))
    assert.deepEqual(await run(join(prefix, 'bin/reams'), ['--version'], at(home)), ITS_VERSION)
    const manual = readFileSync(join(prefix, 'share/man/man1/reams.1'), 'utf8')
    assert.equal(manual, readFileSync(join(ROOT, 'docs/reference/reams.1'), 'utf8'))
  })

  it('has a command that imports and exports, byte for byte', async () => {
    const lines = Array.from({ length: 1234 }, (_, index) => `{"id": ${index}, "amount": 1.10}\n`).join('')
    writeFileSync(join(home, 'events.ndjson'), lines)
    await run(command, ['import', 'events', 'events.ndjson', '--key', 'id'], at(home))
    assert.equal((await run(command, ['export', 'events'], at(home))).stdout, lines)
  })

  it('has a command that serves what only its own process can open, in the process that was started', async (t) => {
    const options = {
      in: workDirectory(t),
      program: ['/bin/sh', '-c', `exec "${command}" "$@" 9<events.ndjson`, 'sh'],
    }
    writeFileSync(join(options.in, 'events.ndjson'), '{"id":1}\n')
    const words = ['/dev/fd/9', '--format', 'ndjson', '--log-level', 'warn']
    const { cli, get } = await startServer(t, words, { ...options, variables: { PATH: ENVIRONMENT.PATH } })
    assert.equal((await get('/9')).status, 200)
    const { status, stderr } = await cli.stop()
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('holds nothing but what is needed to use it', () => {
    const installed = join(home, 'node_modules/reams')
    const names = readdirSync(installed).sort().join(' ')
    assert.equal(names, 'CHANGELOG.md LICENSE README.md bin docs lib package.json')
    const pages = filesIn(join(installed, 'docs')).map(({ name }) => name)
    assert.deepEqual(pages, ['reams.1'])
    const kinds = filesIn(join(installed, 'lib')).map(({ name }) => name.slice(name.indexOf('.')))
    assert.deepEqual([...new Set(kinds)].sort(), ['.css', '.d.ts', '.js', '.sql'])
    // The rest of what runs in browsers is in one script.
    assert.deepEqual(readdirSync(join(installed, 'lib/explorer/browser')).sort(), ['text.d.ts', 'text.js'])
  })
})
