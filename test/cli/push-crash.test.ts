import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { eventLines, storedLines } from './items.ts'
import { createEvents, noteIn, notesIn, push, record, serveEvents, startPush } from './push-servers.ts'
import { runCli, startServer, workDirectory } from './run-cli.ts'

const ROUNDS = 12

describe('reams push', () => {
  it('killed at any moment and started again until it is done doubles nothing and loses nothing', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(6000))
    let killed = 0
    for (let round = 0; round < ROUNDS; round++) {
      const cli = startPush(t, directory, url, 'events.ndjson', '--batch', String(1 + round), '--retries', '0')
      // Often not before it has sent something.
      const target = acknowledgedIn(directory) + Math.floor(Math.random() * 300)
      while (cli.child.exitCode === null && acknowledgedIn(directory) < target) await sleep(1)
      await sleep(Math.random() * 20)
      cli.child.kill('SIGKILL')
      if ((await cli.ends()).status === null) killed++
    }
    t.diagnostic(`${killed} of ${ROUNDS} killed, ${acknowledgedIn(directory)} of 6000 items acknowledged by then`)
    assert.ok(killed > 0)
    const last = await push(directory, url, 'events.ndjson')
    assert.equal(last.status, 0, last.stderr)
    assert.equal(await stored(), eventLines(6000))
    assert.equal(notesIn(directory).length, 1, 'what killed pushes left is gone')
  })

  it('is done by one at a time: who comes meanwhile is told so, and nothing is doubled', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1000))
    const all = ['10', '10', '7', '3'].map((batch) => startPush(t, directory, url, 'events.ndjson', '--batch', batch))
    const results = await Promise.all(all.map((cli) => cli.ends()))
    assert.ok(results.some(({ status }) => status === 0))
    for (const { status, stderr } of results)
      if (status !== 0) assert.match(stderr, /^reams: Another push of this file is under way\. Wait for its end\. /)
    assert.match((await push(directory, url, 'events.ndjson')).stdout, /all 1,000 items/)
    assert.equal(await stored(), eventLines(1000))
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.includes('.lock')),
      [],
    )
  })

  it('goes on by itself when the server is killed and started again', async (t) => {
    const directory = workDirectory(t)
    await (await createEvents(directory)).close()
    writeFileSync(join(directory, 'events.ndjson'), eventLines(3000))
    const { cli: server, url } = await startServer(t, [], { in: directory })
    const cli = startPush(t, directory, `${url}/events`, 'events.ndjson', '--batch', '10', '--retries', '100')
    while (acknowledgedIn(directory) < 500) await sleep(5)
    server.child.kill('SIGKILL')
    await server.ends()
    await startServer(t, ['--port', new URL(url).port], { in: directory })
    const { status, stderr } = await cli.ends()
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^reams: (the connection was lost|no connection) \(E\w+\); sending again in /)
    assert.equal(await storedLines(directory, 'events'), eventLines(3000))
  })

  it('has its note on disk before the first request', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(20))
    const unanswered: unknown[] = []
    const { url } = await record(t, (_response, acknowledge, _number, { headers }) => {
      const note = noteIn(directory)
      assert.equal(headers['idempotency-key'], `${note.id}:${note.acknowledged + 1}`)
      unanswered.push(note.unanswered?.items)
      acknowledge()
    })
    assert.equal((await push(directory, url, 'events.ndjson', '--batch', '15')).status, 0)
    assert.deepEqual(unanswered, [15, 5])
  })

  it('sends nothing more when its note is another one meanwhile', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(20))
    const { url, posted } = await record(t, (_response, acknowledge) => {
      const [note = ''] = notesIn(directory)
      writeFileSync(join(directory, note), JSON.stringify({ ...noteIn(directory), id: 'another' }))
      acknowledge()
    })
    const { status, stderr } = await push(directory, url, 'events.ndjson', '--batch', '15')
    assert.equal(status, 3)
    assert.match(
      stderr,
      /^reams: events\.ndjson\.push-\w+\.json is not the note of this push any more\. Start it again\. 15 items/,
    )
    assert.equal(posted.length, 1)
  })

  it('sends nothing that it cannot note', async (t) => {
    const lack = lackOfOtherUser()
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    const data = join(directory, 'data')
    mkdirSync(data)
    writeFileSync(join(data, 'events.ndjson'), eventLines(20))
    const { uid } = withoutRights()
    if (uid !== undefined) chownSync(data, uid, uid)
    const { url, posted } = await record(t, (_response, acknowledge) => {
      chmodSync(data, 0o555)
      acknowledge()
    })
    const words = ['push', url, 'data/events.ndjson', '--batch', '15']
    const { status, stderr } = await runCli(words, { in: directory, ...withoutRights() })
    chmodSync(data, 0o755)
    assert.equal(status, 3)
    assert.match(
      stderr,
      /^reams: data\/events\.ndjson\.push-\w+\.json cannot be written: EACCES.* Nothing is sent that is not noted there\. 15 items are acknowledged; the same command goes on from there, and doubles nothing\.\n$/,
    )
    assert.equal(posted.length, 1)
    assert.deepEqual([noteIn(data).acknowledged, noteIn(data).unanswered?.items], [0, 15])
  })

  it('follows a file that grows while it is sent, from one start to the next', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const file = join(directory, 'events.ndjson')
    writeFileSync(file, '')
    for (let items = 0; items < 300; items += 100) {
      appendFileSync(file, eventLines(100, items + 1))
      assert.equal((await push(directory, url, 'events.ndjson', '--batch', '30')).status, 0)
    }
    assert.equal(await stored(), eventLines(300))
  })
})

/** By the note; 0 as long as there is none. */
function acknowledgedIn(directory: string): number {
  try {
    return noteIn(directory).acknowledged
  } catch {
    return 0
  }
}
