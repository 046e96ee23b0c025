/** A server that is killed while it receives or applies a large PATCH. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { runInside, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'

const ITEMS = 5_000
/** From the last byte of the body to the kill. The first kill comes within the body. */
const KILL_AFTER_MS = [undefined, 0, 5, 30, 100, 300]

const put = (id: number, round: number) => JSON.stringify({ op: 'put', item: { id, round, text: 'x'.repeat(100) } })
/** Replaces every item, and appends and deletes one: doing it twice would be an error. */
const patchOf = (round: number) =>
  [
    ...Array.from({ length: ITEMS }, (_, id) => put(id, round)),
    put(ITEMS + round, round),
    JSON.stringify({ op: 'delete', key: String(ITEMS + round - 1) }),
  ].join('\n')

describe('a server that is killed during a large PATCH', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  it('has all of it or nothing in SQLite, and does it once when it is repeated', (t) => check(t, 'killed.db'))

  it('has all of it or nothing in PostgreSQL, and does it once when it is repeated', async (t) => {
    const schema = newSchema()
    t.after(() => runSql(server.url, '', `DROP SCHEMA IF EXISTS ${schema} CASCADE`))
    await check(t, withParameter(server.url, 'schema', schema))
  })
})

async function check(t: TestContext, store: string): Promise<void> {
  const options = { in: workDirectory(t), variables: { REAMS_STORE: store } }
  const first = Array.from({ length: ITEMS }, (_, id) => `{"id":${id},"round":0}`)
  const input = [...first, `{"id":${ITEMS},"round":0}`].join('\n')
  await runInside(['import', 'items', '-', '--key', 'id'], { ...options, input })
  const { stdout } = await runInside(['token', 'create', '--name', 'w', '--scope', 'write:items'], options)
  const token = /reams_[\w-]{43}/.exec(stdout)?.[0] ?? assert.fail()
  /** The round whose items are there. All must be of the same one. */
  const roundOf = async (): Promise<number> => {
    const { stdout: lines } = await runInside(['export', 'items'], options)
    const items = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const round = items[0].round
    assert.equal(items.length, ITEMS + 1)
    assert.ok(
      items.every((item) => item.round === round),
      `a part of round ${round} is there`,
    )
    assert.deepEqual([items.at(-1).id], [ITEMS + round])
    return round
  }
  for (const [index, killAfterMs] of KILL_AFTER_MS.entries()) {
    const round = index + 1
    const { cli, url } = await startServer(t, [], options)
    const status = await patchAndKill(
      `${url}/items`,
      headersFor(token, round),
      patchOf(round),
      killAfterMs,
      async () => {
        cli.child.kill('SIGKILL')
        await cli.ends()
      },
    )
    const found = await roundOf()
    assert.ok(found === round || (found === round - 1 && status === undefined), `${found} in round ${round}, ${status}`)
    const again = await startServer(t, [], options)
    const headers = headersFor(token, round)
    const repeated = await fetch(`${again.url}/items`, { method: 'PATCH', headers, body: patchOf(round) })
    assert.equal(repeated.status, 200, await repeated.text())
    await again.cli.stop()
    assert.equal(await roundOf(), round)
  }
  assert.match((await runInside(['verify'], options)).stdout, /no problems found/)
  assert.deepEqual(readdirSync(temporaryFilesOf(options.in)), [])
}

function headersFor(token: string, round: number): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/x-ndjson',
    'idempotency-key': `round-${round}`,
  }
}

/** Resolves with the status, if there was a response before the kill. */
async function patchAndKill(
  url: string,
  headers: Record<string, string>,
  body: string,
  killAfterMs: number | undefined,
  kill: () => Promise<void>,
): Promise<number | undefined> {
  let status: number | undefined
  const sent = request(url, { method: 'PATCH', headers: { ...headers, 'content-length': Buffer.byteLength(body) } })
  sent.on('error', () => {})
  sent.on('response', (response) => {
    status = response.statusCode
    response.on('error', () => {}).resume()
  })
  sent.write(body.slice(0, body.length / 2))
  await once(sent, 'socket')
  await sleep(50)
  if (killAfterMs !== undefined) {
    sent.end(body.slice(body.length / 2))
    await sleep(killAfterMs)
  }
  await kill()
  sent.destroy()
  return status
}
