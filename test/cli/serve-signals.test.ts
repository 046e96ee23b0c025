import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { putLines } from './items.ts'
import { runCli, startServer, workDirectory } from './run-cli.ts'

const ITEM_COUNT = 100
const ITEM = `{"text":"${'x'.repeat(200_000)}"}`

/** A server in the middle of an answer that is far too large for the buffers between. */
async function serverInTheMiddle(t: TestContext) {
  const directory = workDirectory(t)
  await putLines(directory, 'large', `${ITEM}\n`.repeat(ITEM_COUNT))
  const server = await startServer(t, [], { in: directory })
  const request = get(`${server.url}/large`, { agent: false })
  t.after(() => request.destroy())
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return { ...server, answer }
}

/** Resolves when nobody listens there any more. */
async function stopsListening(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  for (;;) {
    const socket = connect(Number(port), hostname)
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (!isOpen) return
    await sleep(10)
  }
}

describe('a server that is told to stop', () => {
  it('finishes the answer that is under way, and takes no new request meanwhile', async (t) => {
    const { cli, url, answer } = await serverInTheMiddle(t)
    cli.child.kill('SIGTERM')
    await stopsListening(url)
    const chunks: Buffer[] = await answer.toArray()
    const { _embedded } = JSON.parse(Buffer.concat(chunks).toString())
    assert.equal(_embedded.large.length, ITEM_COUNT)
    assert.equal((await cli.ends()).status, 0)
  })

  it('ends at once when it is told a second time', async (t) => {
    const { cli, url } = await serverInTheMiddle(t)
    cli.child.kill('SIGTERM')
    await stopsListening(url)
    assert.equal((await cli.stop('SIGINT')).status, 130)
  })
})

it('a server goes on when nobody reads its log any more', async (t) => {
  const directory = workDirectory(t)
  await runCli(['import', 'few', '-', '--store', 'my.db'], { in: directory, input: '{"id":1}\n' })
  const { cli, url } = await startServer(t, ['--store', 'my.db'], { in: directory })
  cli.child.stderr?.destroy()
  rmSync(join(directory, 'my.db'))
  // Each is reported in a line of the log.
  for (let count = 0; count < 3; count++) assert.equal((await fetch(`${url}/-/health`)).status, 503)
  assert.equal((await fetch(`${url}/few`)).status, 200)
})
