import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventLines, storedLines } from './items.ts'
import { countAt, createEvents, killPushes, startPush } from './push-servers.ts'
import { startServer, workDirectory } from './run-cli.ts'

describe('reams push', () => {
  it('killed at any moment and started again until it is done doubles nothing and loses nothing', (t) =>
    killPushes(t, { items: 3000, kills: 4 }))

  it('goes on by itself when the server is killed and started again', async (t) => {
    const directory = workDirectory(t)
    await (await createEvents(directory)).close()
    writeFileSync(join(directory, 'events.ndjson'), eventLines(3000))
    const { cli: server, url } = await startServer(t, [], { in: directory })
    const cli = startPush(t, directory, `${url}/events`, 'events.ndjson', '--batch', '10', '--retries', '100')
    while ((await countAt(`${url}/events`)) === 0) await sleep(5)
    server.child.kill('SIGKILL')
    await server.ends()
    await startServer(t, ['--port', new URL(url).port], { in: directory })
    const { status, stderr } = await cli.ends()
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^reams: The connection failed: POST .*; sending again in \d+ ms \(retry 1\)\.\n/)
    assert.equal(await storedLines(directory, 'events'), eventLines(3000))
  })
})
