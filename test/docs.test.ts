import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { QUESTIONS } from '../bench/questions/index.ts'
import { generatedPages } from '../scripts/docs.ts'
import { RULES } from '../src/check/index.ts'
import { COMMANDS, createProgram } from '../src/cli/program.ts'
import { OTHER_VARIABLES, SETTINGS } from '../src/cli/settings.ts'
import { PROBLEMS } from '../src/contract/problem.ts'
import { itemRun } from '../src/items/item-run.ts'
import { QUIRE_SIZE } from '../src/store/positions.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import type { Load, Store } from '../src/store/store.ts'
import { linesIn } from './cli/items.ts'
import { runInside, startServer, workDirectory } from './cli/run-cli.ts'
import { FAULTS } from './faults/faults/index.ts'
import { anchorsOf, type Fence, fencesOf, headingsOf, inlineCodeOf, linksOf, tablesOf } from './markdown.ts'
import { askRaw } from './service/raw-http.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).sort()
const FLAGS = Object.values(SETTINGS).flatMap(({ flag }) => flag.match(/--?[a-z-]+/g) ?? [])
const VARIABLES = [...Object.keys(OTHER_VARIABLES), ...Object.values(SETTINGS).map(({ variable }) => variable)]
const SCRIPTS: string[] = Object.keys(JSON.parse(read('package.json')).scripts)

/** Reams itself: installed, in a clone, and where a service has it. */
const PROGRAM = /^(?:(?:\.|\/opt\/reams)\/bin\/)?reams$/

/** What the pages use beside Reams itself. */
const OTHER_COMMANDS = new Set(
  'awk bun bunx cd cmp cp curl echo export grep gzip head install journalctl jq kill ls mkdir mv npx podman psql rm seq sleep systemctl tail until useradd wait xargs zcat'.split(
    ' ',
  ),
)

const GENERATED = await generatedPages()
const FIRST_SCREEN = read('README.md').split('\n## ', 1)[0] ?? ''
const CONTRACT = read('docs/reference/contract.md')

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

describe('what is generated', () => {
  for (const [path, text] of GENERATED)
    it(`${path} is what "npm run docs" writes`, () =>
      assert.ok(read(path) === text, 'it differs: run npm run docs, and look at git diff'))

  it('has a section for each problem, setting and command, and for nothing else', () => {
    const sections = (path: string) => headingsOf(read(path)).slice(1)
    assert.deepEqual(sections('docs/reference/problems.md'), Object.keys(PROBLEMS))
    // Where two settings share a flag, their commands follow it.
    const settings = sections('docs/reference/settings.md')
    const flags = settings.map((title) => title.replace(/ of .*/, ''))
    assert.equal(flags.join(), FLAGS.filter((flag) => flag.startsWith('--')).join())
    assert.deepEqual(settings, [...new Set(settings)])
    const commands = COMMANDS.map(({ name }) => `reams ${name}`)
    assert.deepEqual(sections('docs/reference/commands.md'), commands)
    const rules = sections('docs/reference/rules.md').filter((title) => /^[CD]\d+$/.test(title))
    assert.equal(rules.join(), RULES.map(({ id }) => id).join())
  })
})

describe('the man page', () => {
  it('has all commands, flags and variables, and groff prints it without a warning', (t) => {
    const words = ['-man', '-Tascii', '-ww', '-P-c', '-P-b', '-P-u', join(ROOT, 'docs/reference/reams.1')]
    const { error, stdout, stderr } = spawnSync('groff', words, { encoding: 'utf8' })
    if (error !== undefined) return t.skip('groff is missing, which prints man pages')
    assert.equal(stderr, '')
    const plain = (text: string) => text.replaceAll('…', '...').replaceAll('`', '').replaceAll(/\s+/g, ' ')
    const page = plain(stdout)
    for (const { name, usage, description } of COMMANDS)
      assert.ok(page.includes(plain(` reams ${name} ${usage} ${description} `)), name)
    for (const { flag, description } of Object.values(SETTINGS))
      assert.ok(page.includes(plain(` ${flag} ${description} `)), flag)
    for (const variable of VARIABLES) assert.ok(page.includes(` ${variable} `), variable)
  })
})

describe('the page about the API', () => {
  const entryPoints: [string, { default: string }][] = Object.entries(JSON.parse(read('package.json')).exports)
  for (const [name, { default: path }] of entryPoints)
    it(`has all that ${name.replace('.', 'reams')} exports, and says what it is`, async () => {
      const page = read('docs/reference/api.md')
      const [, section = ''] = page.split(`\n## ${name.replace('.', 'reams')}\n`)
      const own = section.split('\n## ')[0] ?? ''
      const [, elsewhere = ''] = /^It also exports (.*)$/m.exec(own) ?? []
      const described = [...own.matchAll(/^### (\w+)\n\n(?!```)/gm)].map(([, title]) => title)
      const exported = Object.keys(await import(join(ROOT, path)))
      assert.ok(exported.length > 0)
      for (const each of exported) assert.ok(described.includes(each) || inlineCodeOf(elsewhere).includes(each), each)
    })
})

describe('every page', () => {
  for (const path of PAGES)
    it(`${path} links only to what is there`, () => {
      for (const target of linksOf(read(path)).filter((link) => !/^https?:/.test(link))) {
        const [file = '', anchor] = target.split('#')
        const linked = file === '' ? path : join(dirname(path), file)
        assert.ok(existsSync(join(ROOT, linked)), `there is no ${target}`)
        if (anchor !== undefined) assert.ok(anchorsOf(read(linked)).includes(anchor), `there is no heading ${target}`)
      }
    })

  for (const path of PAGES)
    it(`${path} shows only commands and flags that exist`, async () => {
      for (const { language, text, line } of fencesOf(read(path))) {
        if (language !== 'sh') continue
        for (const words of commandsOf(text)) await assertCommand(words, `${path}, block at line ${line}`)
      }
      for (const code of inlineCodeOf(read(path))) assertInlineCode(code)
    })

  it('SECURITY.md names the settings for protection that is off by default', () => {
    const [, section = ''] = read('SECURITY.md').split('## What is not')
    for (const flag of ['--tls-cert', '--rate-limit']) assert.ok(section.includes(`\`${flag}`), flag)
  })

  it('is reached from the README', () => {
    const reached = new Set(['README.md'])
    for (const path of reached)
      for (const target of linksOf(read(path))) {
        const linked = join(dirname(path), target.replace(/#.*/, ''))
        if (PAGES.includes(linked)) reached.add(linked)
      }
    assert.deepEqual([...reached].sort(), PAGES)
  })
})

/** The commands of a shell script, each as its words: one a line, or a part of a pipe or a list. */
function commandsOf(script: string): string[][] {
  const lines = script.replaceAll('\\\n', ' ').split('\n')
  return lines
    .flatMap((line) => line.replace(/(^|\s)(#|<\s|>>?\s|&\s*$).*/, '').split(/\|\|?|&&/))
    .map((command) => command.match(/'[^']*'|[^\s']+/g) ?? [])
    .map((words) => words.filter((word) => !/^[A-Z_]+=/.test(word)).map((word) => word.replaceAll("'", '')))
    .filter((words) => words.length > 0)
}

async function assertCommand([name = '', ...words]: string[], where: string): Promise<void> {
  const shown = `${where}: ${[name, ...words].join(' ')}`
  if (name === 'runuser') return assertCommand(words.slice(words.indexOf('--') + 1), where)
  if (name === 'podman' && isWithProgram(words)) return assertCommand(words.slice(words.lastIndexOf('reams')), where)
  if (PROGRAM.test(name)) await assertProgramTakes(words, shown)
  else if (name === 'npm' && words[0] === 'start') await assertProgramTakes(['serve', ...words.slice(2)], shown)
  else if (name === 'npx' && words[0] === 'reams') await assertProgramTakes(words.slice(1), shown)
  else if (name === 'npm')
    assert.ok(
      [...SCRIPTS, 'ci', 'install', 'pack'].some((each) => words.includes(each)),
      shown,
    )
  else if (name === 'node_modules/.bin/node') assert.ok(existsSync(join(ROOT, words.at(-1) ?? '')), shown)
  else assert.ok(OTHER_COMMANDS.has(name), shown)
}

/** Whether words for podman end with words for Reams, behind the name of the image, or of the container and the program. */
function isWithProgram(words: readonly string[]): boolean {
  const last = words.lastIndexOf('reams')
  const isNamed = words[0] === 'run' ? !words.includes('--entrypoint') : words[last - 1] === 'reams'
  return isNamed && last < words.length - 1
}

/** Parses the words with the real program, which runs no command here. */
async function assertProgramTakes(words: readonly string[], shown: string): Promise<void> {
  if (words.length === 1 && words[0] === '--version') return
  let taken = ''
  const onCommand = async ({ name }: { name: string }) => {
    taken = name
  }
  const program = createProgram(onCommand)
  await program.parseAsync(words, { from: 'user' }).catch((error) => assert.fail(`${shown}: ${error.message}`))
  assert.ok(taken !== '' && `${words.join(' ')} `.startsWith(`${taken} `), shown)
}

function assertInlineCode(code: string): void {
  if (OTHER_COMMANDS.has(code.split(' ', 1)[0] ?? '')) return
  // What follows `npm run … --` are flags of that script.
  const isScript = code.startsWith('npm run ')
  for (const flag of (!isScript && code.match(/(?<=^|\s)--[a-z-]+/g)) || []) assert.ok(FLAGS.includes(flag), code)
  for (const variable of code.match(/REAMS_(?!TEST_)[A-Z_]+/g) ?? []) assert.ok(VARIABLES.includes(variable), code)
  const [, command] = /^(?:\.\/bin\/)?reams ([a-z]+)/.exec(code) ?? []
  const commands = [...COMMANDS.map(({ name }) => name.split(' ', 1)[0]), 'help']
  if (command !== undefined) assert.ok(commands.includes(command), code)
  const [, script] = /^npm (?:run )?([a-z:]+)/.exec(code) ?? []
  if (script !== undefined) assert.ok([...SCRIPTS, 'install', 'pack', 'publish'].includes(script), code)
  const [, problem] = /\/-\/problems\/([a-z-]+)/.exec(code) ?? []
  if (problem !== undefined) assert.ok(Object.hasOwn(PROBLEMS, problem), code)
}

describe('the first screen of the README', () => {
  it('is a command, a request, its answer and four lines of client code', () => {
    const [start, , , client] = fencesOf(FIRST_SCREEN)
    assert.deepEqual(
      fencesOf(FIRST_SCREEN).map(({ language }) => language),
      ['sh', 'sh', 'json', 'js'],
    )
    assert.equal(start?.text, 'npm start\n')
    assert.equal(client?.text.trimEnd().split('\n').length, 4)
  })
})

/** Whether a shortened text, `…` for what is left out, shows the whole one. Blanks and line breaks do not count. */
function assertShows(shortened: string, whole: string): void {
  const [beginning = '', ...others] = shortened.replaceAll(/\s/g, '').split('…')
  const text = whole.replaceAll(/\s/g, '')
  const end = others.length === 0 ? text.length : beginning.length
  assert.equal(text.slice(0, end), beginning)
  let at = end
  for (const piece of others) {
    // The last piece must be the end, unless more is left out behind it.
    const found = piece === others.at(-1) ? text.length - piece.length : text.indexOf(piece, at)
    const isNext = found >= at && text.startsWith(piece, found)
    assert.ok(isNext, `"${piece}" does not come next in ${text.slice(at, at + 500)}`)
    at = found + piece.length
  }
}

describe('the page about the contract', () => {
  it('has a heading for each rule', () => {
    const ids = headingsOf(CONTRACT).flatMap((heading) => /^[CD]\d+(?= )/.exec(heading)?.[0] ?? [])
    const expected = [...numbered('C', 10), ...numbered('D', 24)]
    assert.deepEqual(ids.toSorted(), expected.toSorted())
  })
})

describe('the sample', () => {
  it('answers as the README and the page about the contract show', async (t) => {
    const directory = workDirectory(t)
    const { url } = await startServer(t, ['--sample'], { in: directory })
    const { port } = new URL(url)

    await t.test('on the first screen of the README, whose client prints every event', async () => {
      const [, request, response, client] = fencesOf(FIRST_SCREEN)
      const adapted = (fence: Fence | undefined) => fence?.text.replaceAll('http://127.0.0.1:8080', url) ?? ''
      const [, address = ''] = /^curl '(.*)'\n$/.exec(adapted(request)) ?? []
      assertShows(adapted(response), await (await fetch(address)).text())

      writeFileSync(join(directory, 'client.mjs'), adapted(client))
      const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'client.mjs')])
      const lines = stdout.trimEnd().split('\n')
      assert.equal(lines.length, 1234)
      assert.match(lines.at(-1) ?? '', /^1234 /)
    })

    const empty = await runInside(['import', 'drafts', '-', '--store', 'data/reams.db'], { in: directory })
    assert.equal(empty.status, 0, empty.stderr)
    // The tag of the state that the sample is in.
    const [, tag = ''] = /\/events(@[\w-]+)"/.exec(await (await fetch(`${url}/events`)).text()) ?? []
    const adapted = (text: string) =>
      text.replaceAll(':8080', `:${port}`).replace(/^GET \/events@…/, `GET /events${tag}`)
    const examples = fencesOf(CONTRACT).filter(({ language }) => language === 'http')
    assert.ok(examples.length > 10)
    for (const { text, line } of examples)
      await t.test(`at line ${line} of the page`, () => assertExchange(adapted(text), Number(port)))
  })
})

function numbered(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)
}

/** Sends the request of an example and compares what the example shows of the answer. */
async function assertExchange(example: string, port: number): Promise<void> {
  const [request = '', head = '', ...body] = example.trimEnd().split('\n\n')
  const [requestLine, ...requestHeaders] = request.split('\n')
  const hasHost = requestHeaders.some((header) => header.startsWith('Host:'))
  const host = hasHost ? [] : [`Host: 127.0.0.1:${port}`]
  const lines = [`${requestLine} HTTP/1.1`, ...host, ...requestHeaders, 'Connection: close', '', '']
  const answer = await askRaw(port, lines.join('\r\n'))

  const [status, ...headers] = head.split('\n')
  assert.equal(answer.status, Number.parseInt(status ?? '', 10))
  for (const header of headers) {
    const [name = '', value = ''] = header.split(/: (.*)/)
    assertShows(value, answer.headers.get(name.toLowerCase()) ?? '')
  }
  if (body.length > 0) assertShows(body.join('\n'), answer.body.toString())
}

describe('the README', () => {
  it('creates no file that git would show as new', (t) => {
    const shell = fencesOf(read('README.md')).filter(({ language }) => language === 'sh')
    const words = shell.flatMap(({ text }) => [...text.matchAll(/(?:--store|-o|--token-file) (\S+)/g)])
    const stores = [...words.map(([, file = '']) => file), 'reams.db'].filter((file) => file.endsWith('.db'))
    const files = words
      .map(([, file = '']) => file)
      .concat(
        stores.flatMap((store) => [store, ...['wal', 'shm', 'reserve'].map((end) => `${store}-${end}`)]),
        ['events.ndjson', 'events.ndjson.part', 'new.ndjson.gz', 'venues.csv', 'big.json.gz', 'reams-0.1.0.tgz'],
      )
    assert.ok(files.length > 15)
    // A clone of its own, because this one may be no clone but a copy of one.
    const directory = workDirectory(t)
    writeFileSync(join(directory, '.gitignore'), read('.gitignore'))
    const git = (...words: string[]) => spawnSync('git', words, { cwd: directory, encoding: 'utf8' })
    git('init', '--quiet')
    const ignored = git('check-ignore', ...files).stdout.split('\n')
    assert.deepEqual(
      files.filter((file) => !ignored.includes(file)),
      [],
    )
  })

  it('says how to change the port', () => assert.match(read('README.md'), /npm start -- --port \d+/))
})

describe('the page about embedding', () => {
  const embedding = read('docs/how-to/embed.md')

  it('shows the examples as they are', () => {
    const excerpts = [...embedding.matchAll(/\bFrom\s\[(examples\/\S+)\]\(\S+\):\n\n```ts\n([\s\S]*?)```$/gm)]
    assert.equal(excerpts.length, 4)
    for (const [, path = '', excerpt = ''] of excerpts)
      assert.ok(read(path).includes(excerpt), `${path} is another one`)
  })

  it('shows code that writes', async (t) => {
    const [, code = ''] = /^import .* from 'reams\/items'\n([\s\S]*?)```$/m.exec(embedding) ?? []
    const store = await openStore(t)
    const AsyncFunction = (async () => {}).constructor as new (...text: string[]) => (...values: unknown[]) => unknown
    await new AsyncFunction('store', 'itemRun', code)(store, itemRun)
    assert.equal(await linesIn(store, 'events'), '{"id":2,"title":"Salt"}\n')
  })
})

async function openStore(t: TestContext, directory = workDirectory(t)): Promise<Store> {
  const store = await openSqliteStore({ path: join(directory, 'reams.db'), create: true })
  t.after(() => store.close())
  return store
}

describe('the page about the storage format', () => {
  it('has the size of a quire as it is, in the text, the statement and the reader', () => {
    const page = read('docs/reference/storage-format.md')
    const sizes = [/\bQ = (\d+)/g, /h\.next % (\d+)/g, /^QUIRE = (\d+)/gm].map((form) => [...page.matchAll(form)])
    for (const found of sizes)
      assert.deepEqual(
        found.map(([, size]) => Number(size)),
        [QUIRE_SIZE],
      )
  })

  it('has a reader in Python that reads every item of any collection', async (t) => {
    const lack = lackOfPython()
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    const script = join(directory, 'read_store.py')
    const [reader] = fencesOf(read('docs/reference/storage-format.md')).filter(({ language }) => language === 'python')
    writeFileSync(script, reader?.text ?? '')
    const store = await openStore(t, directory)
    const loads = await fillWithEverything(store)
    const words = [script, join(directory, 'reams.db')]
    const readBack = (name: string) => promisify(execFile)('python3', [...words, name], { maxBuffer: 2 ** 24 })
    const assertReads = async ({ name }: { name: string }) =>
      assert.equal((await readBack(name)).stdout, await linesIn(store, name), name)
    await Promise.all((await store.collections()).map(assertReads))
    await assert.rejects(readBack('nope'), /has no collection nope/)
    for (const load of loads) await load.abort()
  })
})

/** Why the reader cannot be run here; undefined if it can. */
function lackOfPython(): string | undefined {
  const found = spawnSync('python3', ['-c', 'import sqlite3; print(sqlite3.sqlite_version)'], { encoding: 'utf8' })
  if (found.status !== 0) return 'there is no python3 with sqlite3 on this machine'
  const [major = 0, minor = 0] = found.stdout.split('.').map(Number)
  const isOld = major < 3 || (major === 3 && minor < 37)
  return isOld ? `the SQLite of python3 is ${found.stdout.trim()}, and STRICT tables need 3.37` : undefined
}

/** Makes collections in every state that the format knows, and answers the loads that are still under way. */
async function fillWithEverything(store: Store): Promise<Load[]> {
  const keyed = { keyField: 'id' }
  const items = (from: number, to: number, note = 'naïve ☃ 1.10') =>
    itemRun(
      Array.from({ length: to - from }, (_, index) => `{"id":${from + index},"note":"${note}","amount":1.10}`),
      keyed,
    )

  const create = async (name: string, count: number) => {
    await store.create(name, keyed)
    await store.append(name, items(0, count))
  }

  await store.create('empty')
  await store.create('whole', { isPaginated: false })
  await store.append('whole', items(0, 1000))

  // The last ream has two quires, and the tail some items.
  const tailStart = 1500 + 2 * QUIRE_SIZE
  await create('changed', tailStart + 20)
  const row = (from: number, length: number) => Array.from({ length }, (_, index) => from + index)
  const singles = [3, 499, 1501, tailStart - 1, tailStart + 5]
  // A whole ream, a quire between two others, and the first one of a ream.
  const many = [...row(500, 500), ...row(QUIRE_SIZE, QUIRE_SIZE), ...row(1000, QUIRE_SIZE)]
  await store.delete('changed', [...singles, ...many].map(String))
  await store.replace('changed', items(1000 + QUIRE_SIZE, 1002 + QUIRE_SIZE, 'another'))

  await create('swapped', 1200)
  const swap = await store.load('swapped', { isReplacement: true })
  await swap.append(items(5000, 5520 + QUIRE_SIZE))
  await swap.commit()

  // What nobody may see yet: behind the items that are there, and in a generation of its own.
  await create('growing', 520 + QUIRE_SIZE)
  const growth = await store.load('growing', { onConflict: 'replace' })
  await growth.append(items(600, 1900, 'unseen'))
  await create('renewed', 520 + QUIRE_SIZE)
  const renewal = await store.load('renewed', { isReplacement: true })
  await renewal.append(items(0, 1900, 'unseen'))
  return [growth, renewal]
}

describe('ARCHITECTURE.md', () => {
  const architecture = read('ARCHITECTURE.md')

  it('has fewer than 100 lines', () => assert.ok(architecture.split('\n').length < 100))

  it('names only files that exist', () => {
    const folders = ['', 'src', 'src/service', 'src/check', 'src/items']
    const files = inlineCodeOf(architecture).filter((text) => /^[\w/-]+\.ts$/.test(text))
    const missing = files.filter((file) => !folders.some((folder) => existsSync(join(ROOT, folder, file))))
    assert.deepEqual(missing, [])
  })
})

describe('the page about reliability', () => {
  const page = read('docs/reference/reliability.md')

  for (const [promise = '', proof = '', figure] of tablesOf(page).flat())
    it(`has a test or a command, and a figure, for: ${promise}`, () => {
      const files = linksOf(proof).filter((link) => link.startsWith('../../test/'))
      const commands = inlineCodeOf(proof).filter((code) => code.startsWith('npm run '))
      assert.ok(files.length + commands.length > 0)
      for (const command of commands) assertScript(command)
      assert.ok(figure)
    })

  it('names every fault', () => {
    const named = [...page.matchAll(/--fault ([\w-]+)/g)].map(([, name]) => name)
    assert.deepEqual([...new Set(named)].sort(), FAULTS.map(({ name }) => name).sort())
  })
})

function assertScript(command: string): void {
  const [, script = '', words = ''] = /^npm run ([\w:]+)(?: -- (.*))?$/.exec(command) ?? []
  assert.ok(SCRIPTS.includes(script), command)
  if (script !== 'bench') return
  for (const word of words.split(' '))
    assert.ok(
      QUESTIONS.some(({ name }) => name === word),
      command,
    )
}
