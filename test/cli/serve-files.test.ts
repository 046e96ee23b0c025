import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventLines } from './items.ts'
import { RunningCli, runCli, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'

function directoryWithFiles(t: TestContext): string {
  const directory = workDirectory(t)
  writeFileSync(join(directory, 'My Events.ndjson.gz'), gzipSync(eventLines(501)))
  writeFileSync(join(directory, 'venues.csv'), 'id,name\n1,Dock\n2,Hall\n')
  return directory
}

describe('serve FILE…', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`serves each file as a collection, and ${signal} removes the temporary store`, async (t) => {
      const directory = directoryWithFiles(t)
      const server = await startServer(t, ['My Events.ndjson.gz', 'venues.csv', '--key', 'id'], { in: directory })
      assert.match(server.cli.stdout, /^Reams serves My Events\.ndjson\.gz, venues\.csv at /)
      const events = (await (await server.get('/my-events')).json()) as { item_count: number }
      assert.equal(events.item_count, 501)
      assert.equal(await (await server.get('/venues/2')).text(), '{"id":"2","name":"Hall"}')
      assert.equal(readdirSync(temporaryFilesOf(directory)).length, 1)
      const result = await server.cli.stop(signal)
      assert.equal(result.status, 0)
      assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
      assert.equal(existsSync(join(directory, 'reams.db')), false)
    })

  it('serves files whole with --unpaginated', async (t) => {
    const server = await startServer(t, ['venues.csv', '--unpaginated'], { in: directoryWithFiles(t) })
    assert.equal('item_count' in ((await (await server.get('/venues')).json()) as object), false)
  })

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    it(`${signal} while a file is loading removes the temporary store`, async (t) => {
      const directory = workDirectory(t)
      const pipe = join(directory, 'endless.ndjson')
      execFileSync('mkfifo', [pipe])
      const cli = new RunningCli(['serve', 'endless.ndjson', '--port', '0'], { in: directory })
      t.after(() => cli.child.kill('SIGKILL'))
      const writing = createWriteStream(pipe)
      t.after(() => writing.destroy())
      writing.on('error', () => {})
      // More than a pipe holds: when it has gone through, loading has begun.
      await new Promise((resolve) => writing.write(eventLines(50_000), resolve))
      assert.equal(readdirSync(temporaryFilesOf(directory)).length, 1)
      const result = await cli.stop(signal)
      assert.deepEqual([result.status, result.stdout], [0, ''])
      assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
    })

  it('removes the temporary store when a file is bad', async (t) => {
    const directory = directoryWithFiles(t)
    writeFileSync(join(directory, 'bad.ndjson'), '{"a":1}\n[1]\n')
    const result = await runCli(['serve', 'venues.csv', 'bad.ndjson', '--port', '0'], { in: directory })
    assert.equal(result.status, 1)
    assert.match(result.stderr, /^reams: bad\.ndjson, line 2: .*\[1\]/)
    assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
  })

  it('says that the port is in use before it loads anything', async (t) => {
    const directory = directoryWithFiles(t)
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    writeFileSync(join(directory, 'bad.ndjson'), '[1]\n')
    const { port } = other.address() as AddressInfo
    const result = await runCli(['serve', 'bad.ndjson', '--port', String(port)], { in: directory })
    assert.equal(result.status, 2)
    assert.match(result.stderr, /in use/)
  })

  it('refuses two files of one name, both named', async (t) => {
    const directory = directoryWithFiles(t)
    mkdirSync(join(directory, 'b'))
    writeFileSync(join(directory, 'b', 'Venues.json'), '[]')
    const result = await runCli(['serve', 'venues.csv', 'b/Venues.json'], { in: directory })
    assert.equal(result.status, 2)
    assert.match(result.stderr, /^reams: venues\.csv and b\/Venues\.json would both be the collection "venues"/)
  })

  it('refuses --store beside files and points to import', async (t) => {
    const result = await runCli(['serve', 'venues.csv', '--store', 'my.db'], { in: directoryWithFiles(t) })
    assert.equal(result.status, 2)
    assert.match(result.stderr, /reams import NAME FILE --store my\.db\n$/)
  })

  it('serves files also where a variable names a store', async (t) => {
    const directory = directoryWithFiles(t)
    const server = await startServer(t, ['venues.csv'], { in: directory, variables: { REAMS_STORE: 'my.db' } })
    assert.equal((await server.get('/venues')).status, 200)
    assert.equal(existsSync(join(directory, 'my.db')), false)
  })
})
