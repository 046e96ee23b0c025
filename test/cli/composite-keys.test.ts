import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { directoryWith, run, succeeds } from './directory.ts'
import { putLines, withStore } from './items.ts'
import { push, serveEvents } from './push-servers.ts'
import { startServer, workDirectory } from './run-cli.ts'

const LINES = '{"tenant":"x,y","id":7}\n{"tenant":"a","id":7}\n{"tenant":"a","id":8}\n'

describe('--key with several fields', () => {
  it('imports, skips, replaces, lists, verifies and copies', async (t) => {
    const directory = workDirectory(t)
    const load = (input: string, flags = '') => run(directory, `import seats - --key tenant,id${flags}`, { input })
    assert.equal((await load(LINES)).status, 0)
    const again = await load('{"tenant":"b","id":1}\n{"id":"7","tenant":"x,y"}\n')
    assert.equal(again.status, 1)
    assert.match(again.stderr, /^reams: standard input, line 2: an item with the key "x\\\\,y,7" exists already; /)
    assert.match((await load('{"id":7,"tenant":"a"}\n', ' --on-conflict skip')).stdout, / 1 skipped /)
    assert.match((await load('{"id":7,"tenant":"a"}\n', ' --on-conflict replace')).stdout, / 1 replaced /)
    assert.match(await succeeds(directory, 'collections'), /^seats +3 +1 +tenant,id/m)
    assert.match(await succeeds(directory, 'verify'), /3 items checked, no problems found\.\n$/)
    await succeeds(directory, 'copy --from reams.db --to other.db')
    assert.match(await succeeds(directory, 'verify --store other.db'), /3 items checked, no problems found\.\n$/)
    const exported = await succeeds(directory, 'export seats --store other.db')
    assert.equal(exported, LINES.replace('"tenant":"a","id":7', '"id":7,"tenant":"a"'))
  })

  it('verify finds an item that is not at its key', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'seats', LINES, { keyField: 'tenant,id' })
    await withStore(directory, false, async (store) => {
      await store.append('seats', { count: 1, text: Buffer.from('{"tenant":"a","id":9}'), keys: ['9,a'] })
      await store.append('seats', { count: 1, text: Buffer.from('{"tenant":"a"}'), keys: ['a'] })
    })
    const { status, stdout } = await run(directory, 'verify')
    assert.equal(status, 1)
    assert.match(stdout, /"a,9"/)
    assert.match(stdout, /has no key "tenant,id": .*the key field "id" is missing/)
  })

  it('FILE:FIELD,FIELD is served with an item to try, and can be pulled and pushed elsewhere', async (t) => {
    const directory = directoryWith(t, { 'seats.csv': 'tenant,id\n"x,y",7\na,7\n' })
    const { cli, url, get } = await startServer(t, ['seats.csv:tenant,id', '--types'], { in: directory })
    assert.ok(cli.stdout.includes(`${url}/seats/x%5C,y,7`), cli.stdout)
    assert.equal(await (await get('/seats/x%5C,y,7')).text(), '{"tenant":"x,y","id":7}')
    const pulled = await run(directory, `pull ${url}/seats -o seats.ndjson`)
    assert.equal(pulled.status, 0, pulled.stderr)
    const other = await serveEvents(t, { keyField: 'id,tenant' })
    const path = join(directory, 'seats.ndjson')
    const pushed = await push(other.directory, other.url, path)
    assert.match(pushed.stdout, /^events: 2 items acknowledged /)
    assert.equal(await other.stored(), await readFile(path, 'utf8'))
    assert.equal(await (await fetch(`${other.url}/7,a`)).text(), '{"tenant":"a","id":7}')
  })
})
