import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { settingsOf } from '../../src/client/client-options.ts'
import * as client from '../../src/client/index.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { CorrectServer, startServer } from '../check/correct-server.ts'
import { fencesOf, inlineCodeOf } from '../markdown.ts'
import { fill, numbered, openService } from '../service/open-service.ts'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/how-to/consume.md'), 'utf8')
const [first, newest, pull] = fencesOf(page).filter(({ language }) => language === 'ts')

/** Runs an example of the page, against a server of 1234 events, in a directory of its own. */
async function run(t: TestContext, code: string): Promise<{ stdout: string; directory: string }> {
  const { url, close } = await startServer(new CorrectServer({ items: 1234 }))
  t.after(close)
  const directory = await mkdtemp(join(tmpdir(), 'reams-consume-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const source = code
    .replaceAll('https://api.example.com/v1', url.replace('/events', ''))
    .replaceAll("'events.ndjson'", JSON.stringify(join(directory, 'events.ndjson')))
  const words = ['--input-type=module-typescript', '--eval', source]
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: ROOT })
  return { stdout, directory }
}

describe('the page about reading collections', () => {
  for (const [what, example, printed] of [
    [
      'begins with a program that prints every event',
      first,
      /^1234\n1 Event 1\n(\d+ Event \d+\n){1232}1234 Event 1234\n$/,
    ],
    [
      'shows a program that reads the newest item with one request',
      newest,
      /^The newest of 1234 events: \{ id: 1234, title: 'Event 1234' \}\n$/,
    ],
  ] as const)
    it(what, async (t) => assert.match((await run(t, example?.text ?? '')).stdout, printed))

  it('shows a program that makes a whole copy', async (t) => {
    const { stdout, directory } = await run(t, pull?.text ?? '')
    assert.equal(stdout, '1234 events, of which 0 are new; begun again 0 times.\n')
    const lines = readFileSync(join(directory, 'events.ndjson'), 'utf8').trimEnd().split('\n')
    assert.deepEqual([lines.length, lines.at(-1)], [1234, '{"id":1234,"title":"Event 1234"}'])
  })

  it('is right about Reams: counts without items, the newest last, crawlers not kept out', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(1234))
    await store.append('events', itemRun(['{"id":"newest"}'], { keyField: 'id' }))
    const entry = await get('/')
    const { collections } = (await entry.json())._embedded
    assert.deepEqual([collections[0].name, collections[0].item_count], ['events', 1235])
    const unchanged = { 'If-None-Match': entry.headers.get('etag') ?? '' }
    assert.equal((await get('/', unchanged)).status, 304)
    const { _embedded, _links } = await (await get(`/events?page=${Number.MAX_SAFE_INTEGER}`)).json()
    assert.equal(_embedded.events.at(-1).id, 'newest')
    assert.equal(_links.self.href, _links.last.href)
    await store.delete('events', ['newest'])
    assert.equal((await get('/', unchanged)).status, 200)

    const head = await get('/events', {}, 'HEAD')
    assert.ok([...head.headers.values()].every((value) => value !== '1234'))
    assert.equal((await get('/robots.txt')).status, 404)
    assert.equal(head.headers.get('x-robots-tag'), null)
  })

  it('names the headers that a page of another origin may send and read', async (t) => {
    const { again } = await openService(t)
    const get = again({ corsOrigins: ['*'] })
    const asked = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'GET' }
    const preflight = await get('/', asked, 'OPTIONS')
    const [, section = ''] = /^## From a web page\n([\s\S]*?)^## /m.exec(page) ?? []
    const [send = '', read = ''] = [/can send ([\s\S]*?)\. With/, /of the headers ([\s\S]*?)\.$/m].map(
      (form) => form.exec(section)?.[1],
    )
    const sent = preflight.headers.get('access-control-allow-headers')
    assert.equal(inlineCodeOf(send).join(', '), sent)
    assert.equal(inlineCodeOf(read).join(', '), (await get('/')).headers.get('access-control-expose-headers'))
  })

  it('names every error class, and no other', () => {
    const classes = Object.keys(client).filter((name) => Object.hasOwn(client, name) && isErrorClass(name))
    const named = [...page.matchAll(/^\| `(\w+)` \| [^|]+ \|$/gm)].map(([, name]) => name)
    assert.deepEqual(named.toSorted(), classes.filter((name) => name !== 'ClientError').toSorted())
  })

  it('names the defaults as they are', () => {
    const { concurrency, timeoutMs, pageBytes, retry } = settingsOf({})
    const shown = (name: string) => new RegExp(`^\\| \`${name}\` \\| .* \\| (.*) \\|$`, 'm').exec(page)?.[1]
    const figures = (...values: number[]) => values.map((value) => value.toLocaleString('en-US')).join(', ')
    assert.equal(shown('concurrency'), figures(concurrency))
    assert.equal(shown('timeoutMs'), figures(timeoutMs))
    assert.equal(shown('pageBytes'), figures(pageBytes))
    const { retries, firstDelayMs, maxDelayMs, maxRetryAfterMs } = retry
    assert.equal(shown('retry'), figures(retries, firstDelayMs, maxDelayMs, maxRetryAfterMs))
  })
})

function isErrorClass(name: string): boolean {
  const value: unknown = Reflect.get(client, name)
  return typeof value === 'function' && value.prototype instanceof Error
}
